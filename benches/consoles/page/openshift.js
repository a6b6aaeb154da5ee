// OpenShift's console: `useK8sWatchResource` of its SDK from npm, over redux and Immutable. The console's reducer of objects is not in that
// package; its twin of the same project is on npm.
import "./given/openshift-flags.js";
import { useK8sWatchResource } from "@openshift-console/dynamic-plugin-sdk/lib/utils/k8s/hooks/index.js";
import { SDKReducers } from "@openshift/dynamic-plugin-sdk-utils";
import { createElement } from "react";
import { Provider } from "react-redux";
import { applyMiddleware, combineReducers, legacy_createStore } from "redux";
import { thunk } from "redux-thunk";
import { PodModel } from "./given/openshift-models.js";
import { patiently, plain, useOrdered } from "./peers.js";

const RESOURCE = { groupVersionKind: { version: "v1", kind: "Pod" }, isList: true };
const ID = "core~v1~Pod";

function consoleStore() {
  // The twin lacks the mark that models are there.
  const withModels = (state) => state.setIn(["RESOURCES", "models", PodModel.kind], PodModel).setIn(["RESOURCES", "loaded"], true);
  const k8s = (state, action) => (action.type === "models" ? withModels(state) : SDKReducers.k8s(state, action));
  const store = legacy_createStore(combineReducers({ k8s, sdkCore: (state = {}) => state }), applyMiddleware(thunk));
  store.dispatch({ type: "models" });
  return store;
}

export function openshift() {
  const store = consoleStore();
  const data = () => store.getState().k8s.getIn([ID, "data"]);
  return {
    ...plain,
    Around: ({ children }) => createElement(Provider, { store }, children),
    /** Without a component that watches, the console lets go of a list. */
    Holder() {
      useK8sWatchResource(RESOURCE);
      return null;
    },
    hold: (pods) => patiently(() => data()?.size === pods, "not all pods were listed"),
    useRows() {
      const [objects] = useK8sWatchResource(RESOURCE);
      return useOrdered(objects);
    },
    reached({ namespace, name, version }) {
      return Number(data().getIn([`(${namespace})-${name}`, "metadata", "resourceVersion"])) >= version;
    },
    close() {},
  };
}
