// Command kubectl is kubectl, unmodified: it is built from the module that the published program is built from.
package main

import (
	"os"

	"k8s.io/component-base/cli"
	"k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	util.BehaviorOnFatal(func(message string, code int) {
		os.Stderr.WriteString(message + "\n")
		os.Exit(code)
	})
	if err := cli.RunNoErrOutput(cmd.NewDefaultKubectlCommand()); err != nil {
		util.CheckErr(err)
	}
}
