package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// buildVersion may be set by the linker; otherwise the module's version counts.
var buildVersion string

// buildInfo is what the version verb prints, with stable keys.
type buildInfo struct {
	Version  string `json:"version"`
	Commit   string `json:"commit"`
	Date     string `json:"date"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func readBuildInfo() buildInfo {
	out := buildInfo{Version: buildVersion, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return out
	}
	if out.Version == "" {
		out.Version = info.Main.Version
	}
	for _, setting := range info.Settings {
		switch setting.Key {
		case "vcs.revision":
			out.Commit = setting.Value
		case "vcs.time":
			out.Date = setting.Value
		}
	}
	return out
}

func newVersionCommand(env *cliEnv) *cobra.Command {
	var format string
	cmd := &cobra.Command{
		Use:   "version [-o table|json]",
		Short: "Print the version",
		Args:  exactly(0),
		RunE: func(*cobra.Command, []string) error {
			info := readBuildInfo()
			switch format {
			case "json":
				return json.NewEncoder(env.Stdout).Encode(info)
			case "table":
				_, err := fmt.Fprintf(env.Stdout, "situationd %s\ncommit %s\nbuilt  %s\ngo     %s %s\n",
					info.Version, orDash(info.Commit), orDash(info.Date), info.Go, info.Platform)
				return err
			default:
				return usagef("version: -o is table or json, not %q", format)
			}
		},
	}
	cmd.Flags().StringVarP(&format, "output", "o", "table", "table or json")
	return cmd
}

func orDash(text string) string {
	if text == "" {
		return "-"
	}
	return text
}
