package storage

import (
	"context"
	"testing"

	examplev1 "k8s.io/apiserver/pkg/apis/example/v1"
	"k8s.io/apiserver/pkg/storage"
	storagetesting "k8s.io/apiserver/pkg/storage/testing"
	"k8s.io/apiserver/pkg/storage/value/encrypt/identity"
)

// Each test has the name that it has among those of the apiserver's cacher.

var ctx = context.Background()

// alone runs a test over a store of its own, beside others.
func alone(t *testing.T, run func(t *testing.T, store storage.Interface), given ...setting) {
	t.Helper()
	t.Parallel()
	run(t, open(t, given...).store)
}

// Its object lives for a second, so it waits for nobody else.
func TestGet(t *testing.T) {
	storagetesting.RunTestGet(ctx, t, open(t).store)
}

func noKeys(context.Context, *testing.T, string) {}

func TestCreate(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestCreate(ctx, t, store, noKeys) })
}

func TestCreateWithTTL(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestCreateWithTTL(ctx, t, store) })
}

func TestCreateWithKeyExist(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestCreateWithKeyExist(ctx, t, store) })
}

func TestUnconditionalDelete(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestUnconditionalDelete(ctx, t, store) })
}

func TestConditionalDelete(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestConditionalDelete(ctx, t, store) })
}

func TestDeleteWithSuggestion(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestDeleteWithSuggestion(ctx, t, store) })
}

func TestDeleteWithSuggestionAndConflict(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestDeleteWithSuggestionAndConflict(ctx, t, store)
	})
}

func TestDeleteWithSuggestionOfDeletedObject(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestDeleteWithSuggestionOfDeletedObject(ctx, t, store)
	})
}

func TestValidateDeletionWithSuggestion(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestValidateDeletionWithSuggestion(ctx, t, store)
	})
}

func TestValidateDeletionWithOnlySuggestionValid(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestValidateDeletionWithOnlySuggestionValid(ctx, t, store)
	})
}

func TestDeleteWithConflict(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestDeleteWithConflict(ctx, t, store) })
}

func TestPreconditionalDeleteWithSuggestion(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestPreconditionalDeleteWithSuggestion(ctx, t, store)
	})
}

func TestPreconditionalDeleteWithSuggestionPass(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestPreconditionalDeleteWithOnlySuggestionPass(ctx, t, store)
	})
}

func TestGuaranteedUpdateWithTTL(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestGuaranteedUpdateWithTTL(ctx, t, store)
	})
}

func TestGuaranteedUpdateWithConflict(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestGuaranteedUpdateWithConflict(ctx, t, store)
	})
}

func TestGuaranteedUpdateWithSuggestionAndConflict(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestGuaranteedUpdateWithSuggestionAndConflict(ctx, t, store)
	})
}

func TestListPaging(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestListPaging(ctx, t, store) })
}

func TestGetListRecursivePrefix(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestGetListRecursivePrefix(ctx, t, store)
	})
}

func TestNamespaceScopedList(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestNamespaceScopedList(ctx, t, store) })
}

func TestWatch(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestWatch(ctx, t, store) })
}

func TestDeleteTriggerWatch(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestDeleteTriggerWatch(ctx, t, store) })
}

func TestWatchFromNonZero(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestWatchFromNonZero(ctx, t, store) })
}

func TestDelayedWatchDelivery(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestDelayedWatchDelivery(ctx, t, store) })
}

func TestWatcherTimeout(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestWatcherTimeout(ctx, t, store) })
}

func TestWatchDeleteEventObjectHaveLatestRV(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestWatchDeleteEventObjectHaveLatestRV(ctx, t, store)
	})
}

func TestClusterScopedWatch(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestClusterScopedWatch(ctx, t, store) }, clusterScoped)
}

func TestNamespaceScopedWatch(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) { storagetesting.RunTestNamespaceScopedWatch(ctx, t, store) })
}

func TestWatchBookmarksWithCorrectResourceVersion(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestOptionalWatchBookmarksWithCorrectResourceVersion(ctx, t, store)
	})
}

func TestListContinuation(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestListContinuation(ctx, t, store, noCalls)
	})
}

func TestListPaginationRareObject(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestListPaginationRareObject(ctx, t, store, noCalls)
	})
}

func TestListContinuationWithFilter(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestListContinuationWithFilter(ctx, t, store, noCalls)
	})
}

// noCalls: how often etcd is asked for pages is not looked at, as for the apiserver's cacher.
func noCalls(*testing.T, uint64, uint64) {}

func TestWatchDispatchBookmarkEvents(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunTestWatchDispatchBookmarkEvents(ctx, t, store, true)
	})
}

func TestSendInitialEventsBackwardCompatibility(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		storagetesting.RunSendInitialEventsBackwardCompatibility(ctx, t, store)
	})
}

func TestWatchFromZero(t *testing.T) {
	t.Parallel()
	s := open(t)
	storagetesting.RunTestWatchFromZero(ctx, t, s.store, s.forget)
}

// These three set a feature gate of the apiserver, which nobody else may do meanwhile.

func TestWatchSemantics(t *testing.T) {
	storagetesting.RunWatchSemantics(ctx, t, creating{open(t).store})
}

func TestWatchSemanticInitialEventsExtended(t *testing.T) {
	storagetesting.RunWatchSemanticInitialEventsExtended(ctx, t, creating{open(t).store})
}

func TestWatchListMatchSingle(t *testing.T) {
	storagetesting.RunWatchListMatchSingle(ctx, t, creating{open(t).store})
}

func TestCompactRevision(t *testing.T) {
	t.Parallel()
	s := open(t)
	storagetesting.RunTestCompactRevision(ctx, t, s.store, s.increase, s.compact)
}

// The apiserver has these three with and without two of its features. The package can do without the first: over a source that tells no progress. It always
// serves the past.
func TestLists(t *testing.T) {
	t.Parallel()
	t.Run("List", func(t *testing.T) {
		t.Parallel()
		s := open(t)
		storagetesting.RunTestList(ctx, t, s.store, s.compact, true, s.recorder)
	})
	for name, given := range map[string][]setting{"ConsistentListFromCache=true": nil, "ConsistentListFromCache=false": {withoutProgress}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			t.Run("ConsistentList", func(t *testing.T) {
				t.Parallel()
				s := open(t, given...)
				storagetesting.RunTestConsistentList(ctx, t, s.store, s.increase, true, given == nil, true)
			})
			t.Run("GetListNonRecursive", func(t *testing.T) {
				t.Parallel()
				s := open(t, given...)
				storagetesting.RunTestGetListNonRecursive(ctx, t, s.increase, s.store)
			})
		})
	}
}

// How the storage estimates is its own affair; it takes the keys of the cache for it.
func TestStats(t *testing.T) {
	alone(t, func(t *testing.T, store storage.Interface) {
		codec, transformer := codecs.LegacyCodec(examplev1.SchemeGroupVersion), identity.NewEncryptCheckTransformer()
		storagetesting.RunTestStats(ctx, t, store, codec, transformer, false)
	})
}
