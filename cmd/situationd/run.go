package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"sync"
	"syscall"

	"github.com/hashicorp/go-hclog"
	"github.com/spf13/cobra"

	"github.com/situationd/situationd/actions"
	"github.com/situationd/situationd/cmd/situationd/internal/app"
	"github.com/situationd/situationd/cmd/situationd/internal/config"
	"github.com/situationd/situationd/mqengine"
	"github.com/situationd/situationd/situations"
)

func newRunCommand(env *cliEnv) *cobra.Command {
	var (
		file, data string
		observe    bool
	)
	cmd := &cobra.Command{
		Use:   "run --config FILE [--observe]",
		Short: "Run the daemon beside one queue manager",
		Long: "Runs the daemon in the foreground until SIGINT or SIGTERM, or until the queue manager that\n" +
			"it hosts ends. SIGHUP reads the rule files again. The log goes to stderr.",
		Example: "situationd run --config examples/situationd.yaml --observe",
		Args:    exactly(0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if file == "" {
				return usagef("run needs --config FILE")
			}
			cfg, err := loadDaemonFile(env, file)
			if err != nil {
				return err
			}
			dir, err := mqengine.DataDir(firstOf(data, cfg.Data), env.Getenv, env.UID)
			if err != nil {
				return usagef("%w", err)
			}
			return runDaemon(cmd.Context(), env, app.Options{
				Config: cfg, Data: dir, Observe: observe, Version: appVersion(),
				Logger: app.NewLogger(cfg.Log, hclog.LoggerOptions{Name: "situationd", Output: env.Stderr}),
			})
		},
	}
	cmd.Flags().StringVar(&file, "config", "", "the daemon file")
	cmd.Flags().StringVar(&data, "data", "", "the data folder (default: the file's, SITUATIOND_DATA, the system's place)")
	cmd.Flags().BoolVar(&observe, "observe", false, "decide and journal everything, change nothing")
	return cmd
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func appVersion() app.Version {
	info := readBuildInfo()
	return app.Version{Version: info.Version, Commit: info.Commit, Go: info.Go}
}

// loadDaemonFile reads a daemon file and tells its problems on stderr.
func loadDaemonFile(env *cliEnv, file string) (*config.Config, error) {
	cfg, problems, err := config.Load(file)
	if err != nil {
		return nil, usagef("%w", err)
	}
	if len(problems) > 0 {
		if _, err := env.Stderr.Write(situations.FormatText(problems)); err != nil {
			return nil, failedf("%w", err)
		}
	}
	if cfg == nil {
		return nil, exitSilently(exitUsage)
	}
	return cfg, nil
}

// runDaemon runs a daemon until a signal ends it. A second one finds nobody who
// takes it, and ends the process at once.
func runDaemon(ctx context.Context, env *cliEnv, options app.Options) error {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	daemon, err := app.New(ctx, options)
	if err != nil {
		return startError(env, err)
	}
	// The daemon may end without a signal, and then nobody puts rules in force any more.
	reloading, end := context.WithCancel(ctx)
	var reloads sync.WaitGroup
	reloads.Go(func() {
		for {
			select {
			case <-reloading.Done():
				return
			case <-hangup:
				_, _ = daemon.Reload(reloading, "SIGHUP") // logged, and shown by status
			}
		}
	})
	err = daemon.Run(ctx)
	end()
	reloads.Wait()
	if err = errors.Join(err, daemon.Close()); err != nil {
		return failedf("%w", err)
	}
	return nil
}

// startError gives the error of a start its exit code.
func startError(env *cliEnv, err error) error {
	var (
		rules *app.RulesError
		held  *mqengine.InUseError
	)
	switch {
	case errors.As(err, &rules):
		fmt.Fprintf(env.Stderr, "%s", situations.FormatText(rules.Problems))
		return exitSilently(exitUsage)
	case errors.Is(err, app.ErrBadFiles):
		return usagef("%w", err)
	case errors.Is(err, app.ErrInUse), errors.Is(err, actions.ErrInUse), errors.As(err, &held):
		return refusedf("%w", err)
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return refusedf("%w", err)
	default:
		return failedf("%w", err)
	}
}
