// Package storage runs the apiserver's own storage tests on the package watchcache, which answers reads and watches of a storage.Interface.
package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
)

// keys translates between keys of the store and what an API is asked for.
type keys struct {
	prefix string // "/pods/"
	// Whether objects are in namespaces. The package reads it from the objects; a key alone does not say it.
	namespaced bool
}

// of returns the key of a namespace or an object, and whether what lies below it is meant.
func (k keys) of(namespace, name string) (key string, recursive bool) {
	key = k.prefix
	if namespace != "" {
		key += namespace + "/"
	}
	if name != "" && (namespace != "" || !k.namespaced) {
		return key + name, false
	}
	return key, true
}

// scope is what a key means to the package.
type scope struct{ namespace, name string }

// read translates a key. A key that no object can have names an object that there cannot be, and not all objects.
func (k keys) read(key string, recursive bool) (scope, error) {
	key, err := storage.PrepareKey(k.prefix, key, recursive)
	if err != nil {
		return scope{}, err
	}
	rest := strings.TrimPrefix(key, k.prefix)
	if recursive {
		return scope{namespace: strings.TrimSuffix(rest, "/")}, nil
	}
	if namespace, name, found := strings.Cut(rest, "/"); found {
		return scope{namespace, name}, nil
	}
	return scope{name: rest}, nil
}

// Store is a storage.Interface. Writes, and what is asked about the storage itself, go to the etcd store, as the apiserver's cacher delegates them.
type Store struct {
	storage.Interface
	peer   *peer
	cache  string
	keys   keys
	codec  runtime.Codec
	source *source
}

var _ storage.Interface = (*Store)(nil)

// listOptions are those of `list` and `watch` in the package.
type listOptions struct {
	Namespace            string `json:"namespace,omitempty"`
	Name                 string `json:"name,omitempty"`
	LabelSelector        string `json:"labelSelector,omitempty"`
	FieldSelector        string `json:"fieldSelector,omitempty"`
	ResourceVersion      string `json:"resourceVersion,omitempty"`
	ResourceVersionMatch string `json:"resourceVersionMatch,omitempty"`
	Limit                int64  `json:"limit,omitempty"`
	Continue             string `json:"continue,omitempty"`
	SendInitialEvents    *bool  `json:"sendInitialEvents,omitempty"`
	AllowWatchBookmarks  bool   `json:"allowWatchBookmarks,omitempty"`
	TimeoutSeconds       int64  `json:"timeoutSeconds,omitempty"`
}

func optionsOf(at scope, opts storage.ListOptions) listOptions {
	options := listOptions{
		Namespace:            at.namespace,
		ResourceVersion:      opts.ResourceVersion,
		ResourceVersionMatch: string(opts.ResourceVersionMatch),
		Limit:                opts.Predicate.Limit,
		Continue:             opts.Predicate.Continue,
	}
	if opts.Predicate.Label != nil {
		options.LabelSelector = opts.Predicate.Label.String()
	}
	if opts.Predicate.Field != nil {
		options.FieldSelector = opts.Predicate.Field.String()
	}
	return options
}

// Get implements storage.Interface.
func (s *Store) Get(ctx context.Context, key string, opts storage.GetOptions, object runtime.Object) error {
	at, err := s.keys.read(key, false)
	if err != nil {
		return err
	}
	var document string
	asked := message{Call: "get", Cache: s.cache, Key: keyOf(at), Options: listOptions{ResourceVersion: opts.ResourceVersion}}
	_, err = s.peer.call(ctx, asked, &document)
	if apierrors.IsNotFound(err) {
		if opts.IgnoreNotFound {
			return runtime.SetZeroValue(object)
		}
		return storage.NewKeyNotFoundError(key, 0)
	}
	if err != nil {
		return err
	}
	return s.decode(document, object)
}

// GetList implements storage.Interface.
func (s *Store) GetList(ctx context.Context, key string, opts storage.ListOptions, object runtime.Object) error {
	at, err := s.keys.read(key, opts.Recursive)
	if err != nil {
		return err
	}
	options := optionsOf(at, opts)
	if !opts.Recursive {
		// A list of one key is told by its name, as over the API.
		one := "metadata.name=" + at.name
		if at.namespace == "" && s.keys.namespaced {
			one += ",metadata.namespace="
		}
		options.FieldSelector = strings.TrimPrefix(options.FieldSelector+","+one, ",")
	}
	var answer struct {
		Items              string `json:"items"`
		ResourceVersion    string `json:"resourceVersion"`
		Continue           string `json:"continue"`
		RemainingItemCount *int64 `json:"remainingItemCount"`
	}
	err = s.source.recorded.during(ctx, func() error {
		_, err := s.peer.call(ctx, message{Call: "list", Cache: s.cache, Options: options}, &answer)
		return err
	})
	if err != nil {
		return err
	}
	var items []json.RawMessage
	if err := json.Unmarshal([]byte(answer.Items), &items); err != nil {
		return err
	}
	list := object.(*example.PodList)
	list.Items = make([]example.Pod, len(items))
	for index, item := range items {
		if err := s.decode(string(item), &list.Items[index]); err != nil {
			return err
		}
	}
	list.ListMeta = metav1.ListMeta{ResourceVersion: answer.ResourceVersion, RemainingItemCount: answer.RemainingItemCount}
	if answer.Continue != "" {
		list.Continue, err = retold(answer.Continue, key)
	}
	return err
}

// retold is a token for a list of this very key. Over the API keys of lists end before a slash, with which the tokens begin. Most of the tests have keys
// that end with it.
func retold(token, key string) (string, error) {
	start, version, err := storage.DecodeContinue(token, strings.TrimSuffix(key, "/")+"/")
	if err != nil {
		return "", err
	}
	return storage.EncodeContinue(start, key, version)
}

// Watch implements storage.Interface.
func (s *Store) Watch(ctx context.Context, key string, opts storage.ListOptions) (watch.Interface, error) {
	at, err := s.keys.read(key, opts.Recursive)
	if err != nil {
		return nil, err
	}
	options := optionsOf(at, opts)
	options.Name, options.Limit, options.Continue = at.name, 0, ""
	options.SendInitialEvents, options.AllowWatchBookmarks = opts.SendInitialEvents, opts.Predicate.AllowWatchBookmarks
	if opts.SendInitialEvents != nil {
		// The API has to be told what the storage takes for granted.
		options.ResourceVersionMatch = string(metav1.ResourceVersionMatchNotOlderThan)
	}
	if deadline, ok := ctx.Deadline(); ok {
		options.TimeoutSeconds = int64(math.Ceil(time.Until(deadline).Seconds()))
	}
	number, err := s.peer.call(ctx, message{Call: "watch", Cache: s.cache, Options: options}, nil)
	if err != nil {
		return nil, err
	}
	w := &watcher{store: s, number: number, events: make(chan watch.Event, resultBuffer), stopped: make(chan struct{})}
	go w.run(ctx)
	return w, nil
}

// Delete implements storage.Interface. What the package holds is suggested to the store.
func (s *Store) Delete(ctx context.Context, key string, out runtime.Object, preconditions *storage.Preconditions, validate storage.ValidateObjectFunc, _ runtime.Object, opts storage.DeleteOptions) error {
	return s.Interface.Delete(ctx, key, out, preconditions, validate, s.held(ctx, key), opts)
}

// GuaranteedUpdate implements storage.Interface. What the package holds is suggested to the store.
func (s *Store) GuaranteedUpdate(ctx context.Context, key string, destination runtime.Object, ignoreNotFound bool, preconditions *storage.Preconditions, update storage.UpdateFunc, _ runtime.Object) error {
	return s.Interface.GuaranteedUpdate(ctx, key, destination, ignoreNotFound, preconditions, update, s.held(ctx, key))
}

// CompactRevision implements storage.Interface: what the package was told.
func (s *Store) CompactRevision() int64 {
	revision, _ := s.source.compactedRevision()
	return revision
}

// awaitCompacted waits until the package was told that this revision was compacted.
func (s *Store) awaitCompacted(ctx context.Context, revision int64) error {
	for {
		told, next := s.source.compactedRevision()
		if told >= revision {
			return nil
		}
		select {
		case <-next:
		case <-ctx.Done():
			return fmt.Errorf("the package has not asked what was compacted: %w", ctx.Err())
		}
	}
}

// held is the object as the package holds it; nil where it holds none.
func (s *Store) held(ctx context.Context, key string) runtime.Object {
	at, err := s.keys.read(key, false)
	if err != nil {
		return nil
	}
	var document *string
	if _, err := s.peer.call(ctx, message{Call: "peek", Cache: s.cache, Key: keyOf(at)}, &document); err != nil || document == nil {
		return nil
	}
	object := &example.Pod{}
	if err := s.decode(*document, object); err != nil {
		return nil
	}
	return object
}

var podKind = examplev1.SchemeGroupVersion.WithKind("Pod")

func (s *Store) decode(document string, into runtime.Object) error {
	if err := runtime.SetZeroValue(into); err != nil {
		return err
	}
	_, _, err := s.codec.Decode([]byte(document), &podKind, into)
	return err
}

func keyOf(at scope) string {
	if at.namespace == "" {
		return at.name
	}
	return at.namespace + "/" + at.name
}

// resultBuffer is how many events a result channel holds, as in the apiserver. What stands there is read also after the end of the watch.
const resultBuffer = 10

// watcher is a watch of the package. It asks for an event when there is room for it, so all others wait in the package.
type watcher struct {
	store   *Store
	number  int64
	events  chan watch.Event
	stopped chan struct{}
	once    sync.Once
}

func (w *watcher) ResultChan() <-chan watch.Event { return w.events }

func (w *watcher) Stop() { w.once.Do(func() { close(w.stopped) }) }

func (w *watcher) run(ctx context.Context) {
	defer close(w.events)
	ctx, cancel := context.WithCancel(ctx)
	go func() {
		select {
		case <-w.stopped:
		case <-ctx.Done():
		}
		// Before the package hears of it: what it says of a watch that was stopped is no event.
		cancel()
		_, _ = w.store.peer.call(context.Background(), message{Call: "stop", Watch: w.number}, nil)
	}()
	defer w.Stop()
	for {
		event, err := w.next(ctx)
		if event == nil && err == nil || ctx.Err() != nil {
			return
		}
		if err != nil {
			status := apierrors.NewInternalError(err).ErrStatus
			if failure := failureOf(err); failure.Status != nil {
				status = *failure.Status
			}
			event = &watch.Event{Type: watch.Error, Object: &status}
		}
		select {
		case w.events <- *event:
		case <-ctx.Done():
			return
		}
		if err != nil {
			return
		}
	}
}

// next is the next event; nil at the end.
func (w *watcher) next(ctx context.Context) (*watch.Event, error) {
	var said *struct {
		Type   watch.EventType `json:"type"`
		Object string          `json:"object"`
	}
	if _, err := w.store.peer.call(ctx, message{Call: "next", Watch: w.number}, &said); err != nil || said == nil {
		return nil, err
	}
	if said.Type == watch.Error {
		status := &metav1.Status{}
		return &watch.Event{Type: watch.Error, Object: status}, json.Unmarshal([]byte(said.Object), status)
	}
	pod := &example.Pod{}
	if err := w.store.decode(said.Object, pod); err != nil {
		return nil, err
	}
	return &watch.Event{Type: said.Type, Object: pod}, nil
}
