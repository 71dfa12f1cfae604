// Command lab is the real parts of Kubernetes that the tests of kaisched-kubernetes need, in one program and on loopback
// alone. No container runs: kwok plays the kubelets.
//
//	lab up FOLDER PORT [FLAGS OF KUBE-APISERVER]   etcd and kube-apiserver
//	lab controller-manager FLAGS                   kube-controller-manager
//	lab scheduler FLAGS                            kube-scheduler
//	lab kwok FLAGS                                 kwok
//
// FOLDER receives `kubeconfig`, and everything else that the server keeps; started again on it, the server knows what it knew.
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/component-base/cli"
	_ "k8s.io/component-base/metrics/prometheus/clientgo" // latencies of requests, for whoever asks /metrics
	controllers "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	scheduler "k8s.io/kubernetes/cmd/kube-scheduler/app"
	kwok_config "sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	kwok_log "sigs.k8s.io/kwok/pkg/log"
)

func main() {
	if len(os.Args) < 2 {
		fail("usage: lab up|controller-manager|scheduler|kwok ...")
	}
	rest := os.Args[2:]
	switch os.Args[1] {
	case "up":
		if len(rest) < 2 {
			fail("usage: lab up FOLDER PORT [FLAGS OF KUBE-APISERVER]")
		}
		if err := up(rest[0], rest[1], rest[2:]); err != nil {
			fail(err)
		}
	case "controller-manager":
		os.Exit(command(controllers.NewControllerManagerCommand(), rest))
	case "scheduler":
		os.Exit(command(scheduler.NewSchedulerCommand(), rest))
	case "kwok":
		if err := playKubelets(rest); err != nil {
			fail(err)
		}
	default:
		fail("no such part: " + os.Args[1])
	}
}

func fail(why any) {
	fmt.Fprintln(os.Stderr, "lab:", why)
	os.Exit(1)
}

func command(part *cobra.Command, arguments []string) int {
	part.SetArgs(arguments)
	return cli.Run(part)
}

// playKubelets gives kwok a command line of its own: it parses the process's, in which Kubernetes has put flags that kwok
// defines as well.
func playKubelets(arguments []string) error {
	os.Args = append([]string{"kwok"}, arguments...)
	pflag.CommandLine = pflag.NewFlagSet("kwok", pflag.ExitOnError)
	common := pflag.NewFlagSet("kwok", pflag.ContinueOnError)
	common.ParseErrorsAllowlist.UnknownFlags = true // those of the command, which it parses itself
	common.Usage = func() {}
	ctx, _ := kwok_log.InitFlags(context.Background(), common)
	ctx, err := kwok_config.InitFlags(ctx, common)
	if err != nil {
		return err
	}
	part := kwok.NewCommand(ctx)
	part.PersistentFlags().AddFlagSet(common)
	return part.ExecuteContext(ctx)
}
