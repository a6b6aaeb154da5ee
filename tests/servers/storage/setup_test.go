package storage

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/api/apitesting"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apiserver/pkg/apis/example"
	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	"k8s.io/apiserver/pkg/storage/etcd3"
	etcd3testing "k8s.io/apiserver/pkg/storage/etcd3/testing"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
	"k8s.io/utils/clock"
)

const (
	prefix = "/pods/"
	// The package asks every 15 seconds what was compacted.
	compactionPatience = 40 * time.Second
)

var (
	scheme = runtime.NewScheme()
	codecs = serializer.NewCodecFactory(scheme)
	node   *peer
	caches atomic.Int64
)

func init() {
	metav1.AddToGroupVersion(scheme, metav1.SchemeGroupVersion)
	utilruntime.Must(example.AddToScheme(scheme))
	utilruntime.Must(examplev1.AddToScheme(scheme))
}

func TestMain(m *testing.M) {
	var err error
	if node, err = startPeer(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := node.stop(); err != nil {
		fmt.Fprintln(os.Stderr, "peer.mjs:", err)
		code = 1
	}
	os.Exit(code)
}

type setting func(*settings)

type settings struct {
	clustered  bool
	noProgress bool
}

func clusterScoped(s *settings) { s.clustered = true }

// withoutProgress has the source tell neither its version nor its progress.
func withoutProgress(s *settings) { s.noProgress = true }

type setup struct {
	store    *Store
	client   *clientv3.Client
	recorder *storagetesting.KubernetesRecorder
}

// open starts etcd, and the package over it.
func open(t *testing.T, given ...setting) setup {
	t.Helper()
	var chosen settings
	for _, set := range given {
		set(&chosen)
	}
	server, _ := etcd3testing.NewUnsecuredEtcd3TestClientServer(t)
	versioner := storage.APIObjectVersioner{}
	codec := apitesting.TestCodec(codecs, examplev1.SchemeGroupVersion)
	client := server.V3Client.Client
	compactor := etcd3.NewCompactor(client, 0, clock.RealClock{}, nil)
	t.Cleanup(compactor.Stop)
	etcd, err := etcd3.New(
		server.V3Client, compactor, codec,
		func() runtime.Object { return &example.Pod{} }, func() runtime.Object { return &example.PodList{} },
		etcd3testing.PathPrefix(), prefix, schema.GroupResource{Resource: "pods"},
		identity.NewEncryptCheckTransformer(), etcd3.NewDefaultLeaseManagerConfig(), etcd3.NewDefaultDecoder(codec, versioner), versioner)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(etcd.Close)
	// The first list fails, as in the tests of the apiserver's cacher.
	failing := &storagetesting.StorageInjectingListErrors{Interface: etcd, Errors: 1}
	keys := keys{prefix: prefix, namespaced: !chosen.clustered}
	cache := strconv.FormatInt(caches.Add(1), 10)
	store := &Store{Interface: etcd, peer: node, cache: cache, keys: keys, codec: codec}
	store.source = newSource(node, cache, failing, keys, codec)
	t.Cleanup(func() {
		if _, err := node.call(context.Background(), message{Call: "close", Cache: cache}, nil); err != nil {
			t.Error(err)
		}
		store.source.stop()
	})
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	if _, err := node.call(ctx, message{Call: "open", Cache: cache, Progress: !chosen.noProgress}, nil); err != nil {
		t.Fatalf("the package did not open: %v", err)
	}
	if consumed, err := failing.ErrorsConsumed(); err != nil || !consumed {
		t.Fatalf("the first list did not fail: %v", err)
	}
	return setup{store, client, server.V3Client.Kubernetes.(*storagetesting.KubernetesRecorder)}
}

// creating waits until the package holds what was created.
type creating struct{ *Store }

func (c creating) Create(ctx context.Context, key string, object, out runtime.Object, ttl uint64) error {
	if err := c.Store.Create(ctx, key, object, out, ttl); err != nil {
		return err
	}
	return wait.PollUntilContextTimeout(ctx, 20*time.Millisecond, wait.ForeverTestTimeout, true, func(ctx context.Context) (bool, error) {
		current := &example.Pod{}
		err := c.Get(ctx, key, storage.GetOptions{ResourceVersion: "0"}, current)
		if storage.IsNotFound(err) {
			return false, nil
		}
		return err == nil && apiequality.Semantic.DeepEqual(current, out), err
	})
}

// compact compacts etcd as the apiserver does, and waits until the package has heard of it.
func (s setup) compact(ctx context.Context, t *testing.T, resourceVersion string) {
	t.Helper()
	revision, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	version, _, _, err := etcd3.Compact(ctx, s.client, 0, revision)
	if err != nil {
		_, _, _, err = etcd3.Compact(ctx, s.client, version, revision)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(ctx, compactionPatience)
	defer cancel()
	if err := s.store.awaitCompacted(ctx, revision); err != nil {
		t.Fatal(err)
	}
}

// forget compacts etcd, and has the package list anew, so that it has no changes from before either.
func (s setup) forget(ctx context.Context, t *testing.T, resourceVersion string) {
	t.Helper()
	revision, err := strconv.ParseInt(resourceVersion, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Compact(ctx, revision); err != nil {
		t.Fatal(err)
	}
	if _, err := node.call(ctx, message{Call: "refresh", Cache: s.store.cache}, nil); err != nil {
		t.Fatal(err)
	}
}

// increase makes a revision that is of no pod.
func (s setup) increase(ctx context.Context, t *testing.T) int64 {
	t.Helper()
	answer, err := s.client.Put(ctx, "increaseRV", "ok")
	if err != nil {
		t.Fatal(err)
	}
	return answer.Header.Revision
}
