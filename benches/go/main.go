// The apiserver's own watch cache (k8s.io/apiserver/pkg/storage/cacher), measured as benches/native measures ours: the same pod, the same
// watchers, the same number of events. It stands between a storage that is made of channels and watchers that only count.
//
//	go build -o cacher-go . && GOMAXPROCS=1 ./cacher-go -pod ../../tests/data/pod.json [-only NAME] [-scale 1.0]
//
// Prints one JSON object a line: {"name": …, "us" and "cpu": µs an event, "delivered": events that watchers received}.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync/atomic"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	apiruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/cacher"
	"k8s.io/klog/v2"
)

const prefix = "/pods/"

// firstVersion is the version of the first list; events count up from it.
const firstVersion = 1000

func main() {
	pod := flag.String("pod", "", "the pod of every event, as JSON")
	only := flag.String("only", "", "measure only this")
	scale := flag.Float64("scale", 1, "fewer or more events")
	flag.Parse()
	klog.LogToStderr(false)
	klog.SetOutput(discard{})
	text, err := os.ReadFile(*pod)
	if err != nil {
		fail(err)
	}
	for _, it := range scenarios {
		if *only != "" && *only != it.name {
			continue
		}
		runtime.GC()
		m := it.run(text, max(50, int(float64(it.events)**scale)))
		out, _ := json.Marshal(map[string]any{"name": it.name, "us": m.us, "cpu": m.cpu, "delivered": m.delivered})
		fmt.Println(string(out))
	}
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

type scenario struct {
	name   string
	events int
	run    func(pod []byte, events int) measured
}

var scenarios = []scenario{
	{"decode", 1000, decodeAlone},
	{"all-1000", 1000, dispatch{watchers: 1000, everything: true}.run},
	{"field-1000-10", 1000, dispatch{watchers: 1000, matching: 10}.run},
	{"trigger-100-1", 2000, dispatch{watchers: 100, matching: 1, trigger: true}.run},
	{"trigger-10000-10", 2000, dispatch{watchers: 10000, matching: 10, trigger: true}.run},
	{"json-1000-10", 1000, dispatch{watchers: 1000, matching: 10, json: true}.run},
}

var (
	scheme = apiruntime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
)

func init() {
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	if err := corev1.AddToScheme(scheme); err != nil {
		fail(err)
	}
}

// documents are the pod at versions that count up, on the node that the watchers want.
func documents(pod []byte, count int) [][]byte {
	list := make([][]byte, count)
	object := map[string]any{}
	if err := json.Unmarshal(pod, &object); err != nil {
		fail(err)
	}
	for i := range list {
		object["metadata"].(map[string]any)["resourceVersion"] = strconv.Itoa(firstVersion + 1 + i)
		object["spec"].(map[string]any)["nodeName"] = "node-0"
		text, err := json.Marshal(object)
		if err != nil {
			fail(err)
		}
		list[i] = text
	}
	return list
}

func decode(text []byte) *corev1.Pod {
	object, _, err := codecs.UniversalDeserializer().Decode(text, nil, nil)
	if err != nil {
		fail(err)
	}
	return object.(*corev1.Pod)
}

func decodeAlone(pod []byte, events int) measured {
	texts := documents(pod, events)
	began := start()
	for _, text := range texts {
		if decode(text).ResourceVersion == "" {
			fail(fmt.Errorf("no version"))
		}
	}
	return began.per(events, 0)
}

// measured is µs an event, by the clock and of processor time.
type measured struct {
	us, cpu   float64
	delivered int64
}

// clock is a measurement under way.
type clock struct {
	began time.Time
	cpu   time.Duration
}

func start() clock { return clock{time.Now(), spent()} }

// spent is the processor time of this process so far, the garbage collector's too.
func spent() time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func (c clock) per(events int, delivered int64) measured {
	per := func(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1000 / float64(events) }
	return measured{per(time.Since(c.began)), per(spent() - c.cpu), delivered}
}

// dispatch is one cacher with watchers, and events that go through it.
type dispatch struct {
	watchers int
	// everything: every watcher wants every event; else by the field spec.nodeName, and so many want the node of the events.
	everything bool
	matching   int
	// trigger: the cacher routes by spec.nodeName.
	trigger bool
	// json: the decoding counts too.
	json bool
}

// batch is how many events are under way at once, as in the other benchmark.
const batch = 8

func (d dispatch) run(pod []byte, events int) measured {
	texts := documents(pod, events)
	pods := make([]*corev1.Pod, events)
	if !d.json {
		// One pod in as many versions: what is measured is the way through the cacher.
		first := decode(texts[0])
		for i := range pods {
			copied := *first
			copied.ResourceVersion = strconv.Itoa(firstVersion + 1 + i)
			pods[i] = &copied
		}
	}
	store := &source{events: make(chan watch.Event, 100), initial: decode(texts[0])}
	c, err := cacher.NewCacherFromConfig(d.config(store))
	if err != nil {
		fail(err)
	}
	defer c.Stop()
	for !c.Ready() {
		time.Sleep(time.Millisecond)
	}

	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var delivered atomic.Int64
	for i := range d.watchers {
		w, err := c.Watch(ctx, prefix, storage.ListOptions{ResourceVersion: strconv.Itoa(firstVersion), Predicate: d.predicate(i), Recursive: true})
		if err != nil {
			fail(err)
		}
		go func() {
			for event := range w.ResultChan() {
				if event.Type == watch.Error {
					fail(fmt.Errorf("%v", event.Object))
				}
				delivered.Add(1)
			}
		}()
	}
	receivers := int64(d.matching)
	if d.everything {
		receivers = int64(d.watchers)
	}
	runtime.Gosched()

	began := start()
	for at := 0; at < events; at += batch {
		end := min(at+batch, events)
		for i := at; i < end; i++ {
			object := pods[i]
			if d.json {
				object = decode(texts[i])
			}
			store.events <- watch.Event{Type: watch.Modified, Object: object}
		}
		for waited := 0; delivered.Load() < int64(end)*receivers; waited++ {
			runtime.Gosched()
			if waited > 50_000_000 {
				fail(fmt.Errorf("%d of %d events were delivered: a watcher was too slow", delivered.Load(), int64(end)*receivers))
			}
		}
	}
	return began.per(events, delivered.Load())
}

func (d dispatch) predicate(i int) storage.SelectionPredicate {
	field := fields.Everything()
	if !d.everything {
		node := "node-" + strconv.Itoa(i)
		if i < d.matching {
			node = "node-0"
		} else if i == 0 {
			node = "none"
		}
		field = fields.OneTermEqualSelector("spec.nodeName", node)
	}
	return storage.SelectionPredicate{Label: labels.Everything(), Field: field, GetAttrs: attributes, IndexFields: []string{"spec.nodeName"}}
}

func (d dispatch) config(store storage.Interface) cacher.Config {
	config := cacher.Config{
		Storage:             store,
		Versioner:           storage.APIObjectVersioner{},
		GroupResource:       schema.GroupResource{Resource: "pods"},
		EventsHistoryWindow: cacher.DefaultEventFreshDuration,
		ResourcePrefix:      prefix,
		KeyFunc: func(object apiruntime.Object) (string, error) {
			accessor, err := meta.Accessor(object)
			if err != nil {
				return "", err
			}
			return prefix + accessor.GetNamespace() + "/" + accessor.GetName(), nil
		},
		GetAttrsFunc: attributes,
		NewFunc:      func() apiruntime.Object { return &corev1.Pod{} },
		NewListFunc:  func() apiruntime.Object { return &corev1.PodList{} },
		Codec:        codecs.LegacyCodec(corev1.SchemeGroupVersion),
	}
	if d.trigger {
		config.IndexerFuncs = storage.IndexerFuncs{
			"spec.nodeName": func(object apiruntime.Object) string { return object.(*corev1.Pod).Spec.NodeName },
		}
	}
	return config
}

// attributes are the labels and fields of a pod, as the registry of pods gives them.
func attributes(object apiruntime.Object) (labels.Set, fields.Set, error) {
	pod := object.(*corev1.Pod)
	set := make(fields.Set, 10)
	set["spec.nodeName"] = pod.Spec.NodeName
	set["spec.restartPolicy"] = string(pod.Spec.RestartPolicy)
	set["spec.schedulerName"] = pod.Spec.SchedulerName
	set["spec.serviceAccountName"] = pod.Spec.ServiceAccountName
	set["spec.hostNetwork"] = strconv.FormatBool(pod.Spec.HostNetwork)
	set["status.phase"] = string(pod.Status.Phase)
	set["status.podIP"] = pod.Status.PodIP
	set["status.nominatedNodeName"] = pod.Status.NominatedNodeName
	set["metadata.name"] = pod.Name
	set["metadata.namespace"] = pod.Namespace
	return labels.Set(pod.Labels), set, nil
}

// source is a storage with one pod in its first list, whose watch is a channel.
type source struct {
	storage.Interface
	events  chan watch.Event
	initial *corev1.Pod
}

func (s *source) Versioner() storage.Versioner { return storage.APIObjectVersioner{} }

func (s *source) GetList(_ context.Context, _ string, _ storage.ListOptions, list apiruntime.Object) error {
	pods := list.(*corev1.PodList)
	pods.ResourceVersion = strconv.Itoa(firstVersion)
	copied := *s.initial
	copied.ResourceVersion = strconv.Itoa(firstVersion)
	pods.Items = []corev1.Pod{copied}
	return nil
}

func (s *source) Watch(ctx context.Context, _ string, options storage.ListOptions) (watch.Interface, error) {
	if options.SendInitialEvents != nil {
		return nil, fmt.Errorf("no initial events here: the cacher lists instead")
	}
	return &stream{events: s.events}, nil
}

func (s *source) RequestWatchProgress(context.Context) error                { return nil }
func (s *source) GetCurrentResourceVersion(context.Context) (uint64, error) { return firstVersion, nil }
func (s *source) EnableResourceSizeEstimation(storage.KeysFunc) error       { return nil }
func (s *source) CompactRevision() int64                                    { return 0 }
func (s *source) ReadinessCheck() error                                     { return nil }
func (s *source) Stats(context.Context) (storage.Stats, error)              { return storage.Stats{}, nil }

type stream struct{ events chan watch.Event }

func (s *stream) Stop()                          {}
func (s *stream) ResultChan() <-chan watch.Event { return s.events }
