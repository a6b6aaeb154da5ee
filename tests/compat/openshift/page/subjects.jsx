// The two that are driven: the hooks and calls of the original from npm, with the store that a console gives them, and ours.
import * as hooks from "@openshift-console/dynamic-plugin-sdk/lib/utils/k8s/hooks/index.js";
import * as calls from "@openshift-console/dynamic-plugin-sdk/lib/utils/k8s/k8s-resource.js";
import { SDKReducers } from "@openshift/dynamic-plugin-sdk-utils";
import { Provider } from "react-redux";
import { applyMiddleware, combineReducers, legacy_createStore } from "redux";
import { thunk } from "redux-thunk";
import { createWatchCache } from "watchcache";
import * as compat from "watchcache/compat/openshift";
import { Deployments as OriginalPage } from "./guide/original/Deployments.jsx";
import { Deployments } from "./guide/ours/Deployments.jsx";
import * as models from "./models.js";

/** Of kinds that are known from the start. The rest is registered by a test. */
const known = Object.values(models).filter((model) => model !== models.ServiceModel);

/**
 * The console's reducer of objects is not in the package; its twin of the same project is on npm. That one lacks the mark that models are there.
 */
function consoleStore() {
  // Built-in models have their kind as their key, those of discovery their reference.
  const withModels = (state) => known.reduce((state, model) => state.setIn(["RESOURCES", "models", model.kind], model), state);
  const k8s = (state, action) =>
    action.type === "models" ? withModels(state).setIn(["RESOURCES", "loaded"], true) : SDKReducers.k8s(state, action);
  const store = legacy_createStore(combineReducers({ k8s, sdkCore: (state = {}) => state }), applyMiddleware(thunk));
  store.dispatch({ type: "models" });
  return store;
}

const store = consoleStore();
export const cache = createWatchCache({ server: `${location.origin}/api/kubernetes`, linger: 0, retry: { initialMs: 50, capMs: 500 } });
export const register = () => compat.registerK8s({ cache, models: known });
const another = (cluster) => createWatchCache({ server: `${location.origin}/api/${cluster}`, linger: 0 });
/** Of providers: of another cluster, and of what is closed, before and while something is shown. */
export const caches = { elsewhere: another("other"), closed: another("kubernetes"), closing: another("kubernetes") };
caches.closed.close();

export const subjects = {
  original: {
    ...hooks,
    Page: OriginalPage,
    k8sGet: calls.k8sGetResource,
    k8sList: calls.k8sListResource,
    k8sListItems: calls.k8sListResourceItems,
    k8sCreate: calls.k8sCreateResource,
    k8sUpdate: calls.k8sUpdateResource,
    k8sPatch: calls.k8sPatchResource,
    k8sDelete: calls.k8sDeleteResource,
    Around: ({ children }) => <Provider store={store}>{children}</Provider>,
  },
  ours: { ...compat, Page: Deployments, Around: ({ children }) => children },
};
