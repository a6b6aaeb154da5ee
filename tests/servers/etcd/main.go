// Command etcd is etcd, unmodified: the storage of the kube-apiserver that the end-to-end suite runs against.
package main

import (
	"os"

	"go.etcd.io/etcd/server/v3/etcdmain"
)

func main() {
	etcdmain.Main(os.Args)
}
