package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"

	"google.golang.org/grpc/metadata"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
)

// sourceRequest is what the package asks of a source: see the type Source of the package.
type sourceRequest struct {
	ResourceVersion      string `json:"resourceVersion"`
	ResourceVersionMatch string `json:"resourceVersionMatch"`
	Limit                int64  `json:"limit"`
	Continue             string `json:"continue"`
	Namespace            string `json:"namespace"`
	Name                 string `json:"name"`
	LabelSelector        string `json:"labelSelector"`
	FieldSelector        string `json:"fieldSelector"`
}

// source answers a cache of the package from the etcd store, as the lister and watcher of the apiserver's cacher do.
type source struct {
	peer     *peer
	cache    string
	etcd     storage.Interface
	keys     keys
	codec    runtime.Codec
	ctx      context.Context // of its watches and of what asks for their progress: etcd tells these apart by it
	recorded recorded

	mux       sync.Mutex
	watches   map[int64]watch.Interface
	compacted int64
	told      chan struct{} // closed when the package asks what was compacted
}

// recorded is the list that a test wants recorded, while it runs.
type recorded struct {
	one sync.Mutex
	mux sync.Mutex
	key any
}

// during has the requests of the package recorded under the key of this context, if it has one. There is one such list at a time, because
// nothing tells which list of the package a request is for.
func (r *recorded) during(ctx context.Context, list func() error) error {
	key := ctx.Value(storagetesting.RecorderContextKey)
	if key == nil {
		return list()
	}
	r.one.Lock()
	defer r.one.Unlock()
	r.set(key)
	defer r.set(nil)
	return list()
}

func (r *recorded) set(key any) {
	r.mux.Lock()
	defer r.mux.Unlock()
	r.key = key
}

func (r *recorded) context(ctx context.Context) context.Context {
	r.mux.Lock()
	defer r.mux.Unlock()
	if r.key == nil {
		return ctx
	}
	return context.WithValue(ctx, storagetesting.RecorderContextKey, r.key)
}

func newSource(p *peer, cache string, etcd storage.Interface, keys keys, codec runtime.Codec) *source {
	ctx := metadata.NewOutgoingContext(context.Background(), metadata.New(map[string]string{"source": cache}))
	s := &source{peer: p, cache: cache, etcd: etcd, keys: keys, codec: codec, ctx: ctx}
	s.watches, s.told = map[int64]watch.Interface{}, make(chan struct{})
	p.serve(cache, s.asked)
	return s
}

func (s *source) asked(asked message) {
	if asked.Call == "abort" {
		s.mux.Lock()
		running := s.watches[asked.Ask]
		delete(s.watches, asked.Ask)
		s.mux.Unlock()
		if running != nil {
			go running.Stop()
		}
		return
	}
	go func() {
		if asked.Call == "watch" {
			err := s.watch(asked.Ask, asked.Request)
			end := message{Ask: asked.Ask, End: true}
			if err != nil {
				end.Error = failureOf(err)
			}
			s.peer.send(end)
			return
		}
		answer := message{Ask: asked.Ask}
		result, err := s.answer(asked)
		if err != nil {
			answer.Error = failureOf(err)
		} else if answer.Result, err = json.Marshal(result); err != nil {
			panic(err)
		}
		s.peer.send(answer)
		if asked.Call == "compacted" && err == nil {
			s.noteCompacted(result.(string))
		}
	}()
}

func (s *source) answer(asked message) (any, error) {
	switch asked.Call {
	case "list":
		return s.list(asked.Request)
	case "current":
		version, err := s.etcd.GetCurrentResourceVersion(s.ctx)
		return strconv.FormatUint(version, 10), err
	case "progress":
		return nil, s.etcd.RequestWatchProgress(s.ctx)
	case "compacted":
		return strconv.FormatInt(s.etcd.CompactRevision(), 10), nil
	}
	return nil, fmt.Errorf("the source is not asked for %q", asked.Call)
}

func (s *source) list(request *sourceRequest) (string, error) {
	label, err := labels.Parse(request.LabelSelector)
	if err != nil {
		return "", err
	}
	field, err := fields.ParseSelector(request.FieldSelector)
	if err != nil {
		return "", err
	}
	predicate := storage.SelectionPredicate{Label: label, Field: field, GetAttrs: podAttributes, Limit: request.Limit, Continue: request.Continue}
	key, recursive := s.keys.of(request.Namespace, request.Name)
	options := storage.ListOptions{
		ResourceVersion:      request.ResourceVersion,
		ResourceVersionMatch: metav1.ResourceVersionMatch(request.ResourceVersionMatch),
		Predicate:            predicate,
		Recursive:            recursive,
	}
	list := &example.PodList{}
	if err := s.etcd.GetList(s.recorded.context(s.ctx), key, options, list); err != nil {
		return "", err
	}
	// The codec knows the objects, and no list of them.
	items := make([]json.RawMessage, len(list.Items))
	for index := range list.Items {
		item, err := runtime.Encode(s.codec, &list.Items[index])
		if err != nil {
			return "", err
		}
		items[index] = item
	}
	page, err := json.Marshal(map[string]any{"kind": "PodList", "apiVersion": podKind.GroupVersion().String(), "metadata": list.ListMeta, "items": items})
	return string(page), err
}

// watch sends frames until the watch ends.
func (s *source) watch(number int64, request *sourceRequest) error {
	predicate := storage.Everything
	predicate.AllowWatchBookmarks = true
	options := storage.ListOptions{ResourceVersion: request.ResourceVersion, Predicate: predicate, Recursive: true, ProgressNotify: true}
	running, err := s.etcd.Watch(s.ctx, s.keys.prefix, options)
	if err != nil {
		return err
	}
	defer running.Stop()
	s.mux.Lock()
	s.watches[number] = running
	s.mux.Unlock()
	for event := range running.ResultChan() {
		frame, err := s.frame(event)
		if err != nil {
			return err
		}
		s.peer.send(message{Ask: number, Frame: frame})
	}
	return nil
}

func (s *source) frame(event watch.Event) (string, error) {
	var object []byte
	var err error
	if status, ok := event.Object.(*metav1.Status); ok {
		object, err = json.Marshal(status)
	} else {
		object, err = runtime.Encode(s.codec, event.Object)
	}
	if err != nil {
		return "", err
	}
	frame, err := json.Marshal(map[string]any{"type": event.Type, "object": json.RawMessage(object)})
	return string(frame), err
}

func (s *source) noteCompacted(version string) {
	s.mux.Lock()
	defer s.mux.Unlock()
	s.compacted, _ = strconv.ParseInt(version, 10, 64)
	close(s.told)
	s.told = make(chan struct{})
}

// compactedRevision is the revision that the package was told last, and what says that it was told another one.
func (s *source) compactedRevision() (int64, <-chan struct{}) {
	s.mux.Lock()
	defer s.mux.Unlock()
	return s.compacted, s.told
}

func (s *source) stop() {
	s.peer.serve(s.cache, nil)
	s.mux.Lock()
	defer s.mux.Unlock()
	for _, running := range s.watches {
		running.Stop()
	}
}

func podAttributes(object runtime.Object) (labels.Set, fields.Set, error) {
	pod, ok := object.(*example.Pod)
	if !ok {
		return nil, nil, fmt.Errorf("%T is no pod", object)
	}
	return pod.Labels, fields.Set{
		"metadata.name":      pod.Name,
		"metadata.namespace": pod.Namespace,
		"spec.nodeName":      pod.Spec.NodeName,
		"spec.restartPolicy": string(pod.Spec.RestartPolicy),
		"status.phase":       string(pod.Status.Phase),
	}, nil
}
