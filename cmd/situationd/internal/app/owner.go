package app

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// ActAsOwner has a command that root typed go on as the user whose folder it is,
// for good: what it writes in there the daemon must be able to open, and a file
// that changed hands afterwards would be root's if the command died before. For
// anybody else, and in a folder of root's own, nothing changes. Who typed it
// stays the real user.
func ActAsOwner(dir string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(dir)
	if err != nil {
		return err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || owner.Uid == 0 {
		return nil
	}
	gid, uid := int(owner.Gid), int(owner.Uid)
	if err := errors.Join(syscall.Setgroups([]int{gid}), syscall.Setegid(gid), syscall.Seteuid(uid)); err != nil {
		return fmt.Errorf("go on as the owner of %s: %w", dir, err)
	}
	return nil
}
