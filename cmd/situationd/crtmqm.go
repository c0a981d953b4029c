package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/mqengine"
)

// newCrtmqmCommand creates a queue manager and does not start it.
func newCrtmqmCommand(env *cliEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "crtmqm QM [--mqsc FILE]... [--data DIR]",
		Short: "Create an embedded queue manager",
		Long: "crtmqm creates a queue manager; strmqm starts it. The commands of MQSC files are run once,\n" +
			"as part of the creation: if one fails, nothing is created.",
		Args: exactly(1),
	}
	data := dataFlag(cmd)
	files := cmd.Flags().StringArray("mqsc", nil, "file of MQSC commands to run once; may be repeated")
	order := workloadFlag(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dir, err := env.dataDir(*data)
		if err != nil {
			return err
		}
		if _, err := env.create(cmd, dir, args[0], *files, *order); err != nil {
			return err
		}
		_, err = fmt.Fprintf(env.Stderr, "queue manager %s created\n", args[0])
		return err
	}
	return cmd
}

// create creates a queue manager; existed tells of one that was there already.
func (e *cliEnv) create(cmd *cobra.Command, data, name string, files []string, order string) (existed bool, err error) {
	if err := qmgrName(cmd.Name(), name); err != nil {
		return false, err
	}
	o, err := workloadOrder(order)
	if err != nil {
		return false, err
	}
	ctx, stop := untilSignal(cmd.Context())
	defer stop()
	err = mqengine.Create(ctx, mqengine.CreateOptions{Data: data, Name: name, MQSC: files, Workload: o})
	var unreadable *mqengine.UnreadableError
	switch {
	case errors.Is(err, mqengine.ErrExists):
		return true, &exitError{Code: exitRefused, Err: fmt.Errorf("%s: %w", cmd.Name(), err)}
	case errors.As(err, &unreadable):
		return false, usagef("%s: %w", cmd.Name(), err)
	case err != nil:
		return false, engineExit(fmt.Errorf("%s: %w", cmd.Name(), signalled(ctx, err)))
	}
	return false, nil
}

// newDltmqmCommand deletes a queue manager that does not run.
func newDltmqmCommand(env *cliEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dltmqm QM [--data DIR]",
		Short: "Delete an embedded queue manager and its messages",
		Args:  exactly(1),
	}
	data := dataFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		dir, err := env.dataDir(*data)
		if err != nil {
			return err
		}
		if err := qmgrName("dltmqm", args[0]); err != nil {
			return err
		}
		if err := mqengine.Delete(dir, args[0]); err != nil {
			return engineExit(err)
		}
		_, err = fmt.Fprintf(env.Stderr, "queue manager %s deleted\n", args[0])
		return err
	}
	return cmd
}
