// Command client-go runs an informer of client-go on the configmaps of a namespace. It writes what the informer sees, a line
// an event, and on a line of its standard input the state of its store.
package main

import (
	"bufio"
	"fmt"
	"os"
	"sort"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

func main() {
	server, namespace := os.Args[1], os.Args[2]
	client := kubernetes.NewForConfigOrDie(&rest.Config{Host: server})
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps().Informer()

	var lock sync.Mutex
	say := func(words ...string) {
		lock.Lock()
		defer lock.Unlock()
		fmt.Println(strings.Join(words, " "))
	}
	text := func(object any) string {
		if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
			object = gone.Obj
		}
		configMap := object.(*corev1.ConfigMap)
		return configMap.Name + "=" + configMap.Data["n"]
	}
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	check(informer.SetWatchErrorHandler(func(_ *cache.Reflector, err error) { say("ERROR", strings.Split(err.Error(), "\n")[0]) }))
	_, err := informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(object any) { say("ADDED", text(object)) },
		UpdateFunc: func(old, object any) {
			// A relist repeats what has not changed.
			if old.(*corev1.ConfigMap).ResourceVersion != object.(*corev1.ConfigMap).ResourceVersion {
				say("MODIFIED", text(object))
			}
		},
		DeleteFunc: func(object any) { say("DELETED", text(object)) },
	})
	check(err)

	stop := make(chan struct{})
	factory.Start(stop)
	cache.WaitForCacheSync(stop, informer.HasSynced)
	say("SYNCED")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		state := []string{}
		for _, object := range informer.GetStore().List() {
			state = append(state, text(object))
		}
		sort.Strings(state)
		say("STATE", strings.Join(state, ","))
	}
}
