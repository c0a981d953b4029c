package main

import (
	"encoding/json"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/situationd/situationd/mqengine"
)

// qmgrLine is a queue manager for programs, with stable keys.
type qmgrLine struct {
	QMgr   string `json:"qmgr"`
	Status string `json:"status"`
	PID    *int   `json:"pid"`
	Folder string `json:"folder"`
}

// newDspmqCommand lists the queue managers of this host.
func newDspmqCommand(env *cliEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "dspmq [-m QM] [-o table|json|jsonl] [--data DIR]",
		Short: "List the embedded queue managers and whether they run",
		Args:  exactly(0),
	}
	data := dataFlag(cmd)
	only := cmd.Flags().StringP("qmgr", "m", "", "only this queue manager")
	format := cmd.Flags().StringP("output", "o", "table", "table, json or jsonl")
	cmd.RunE = func(*cobra.Command, []string) error {
		dir, err := env.dataDir(*data)
		if err != nil {
			return err
		}
		list, err := listQMgrs(dir, *only)
		if err != nil {
			return engineExit(err)
		}
		return env.printQMgrs(list, *format)
	}
	return cmd
}

func listQMgrs(dir, only string) ([]mqengine.Info, error) {
	if only == "" {
		return mqengine.List(dir)
	}
	if err := qmgrName("dspmq", only); err != nil {
		return nil, err
	}
	info, err := mqengine.Look(dir, only)
	if err != nil {
		return nil, err
	}
	return []mqengine.Info{info}, nil
}

func (e *cliEnv) printQMgrs(list []mqengine.Info, format string) error {
	lines := make([]qmgrLine, len(list))
	for i, info := range list {
		lines[i] = qmgrLine{QMgr: info.Name, Status: info.Status, Folder: info.Folder}
		if info.PID != 0 {
			lines[i].PID = &info.PID
		}
	}
	enc := json.NewEncoder(e.Stdout)
	switch format {
	case "json":
		return enc.Encode(lines)
	case "jsonl":
		for i := range lines {
			if err := enc.Encode(&lines[i]); err != nil {
				return err
			}
		}
		return nil
	case "table":
		for _, info := range list {
			if _, err := fmt.Fprintf(e.Stdout, "QMNAME(%s) STATUS(%s)\n", info.Name, info.Status); err != nil {
				return err
			}
		}
		return nil
	}
	return usagef("dspmq: -o is table, json or jsonl, not %q", format)
}
