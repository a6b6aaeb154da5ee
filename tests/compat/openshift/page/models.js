// Models as a console has them. Only the original needs what is for people.
const model = (kind, plural, rest) => ({ kind, plural, abbr: kind[0], label: kind, labelPlural: `${kind}s`, apiVersion: "v1", ...rest });

export const PodModel = model("Pod", "pods", { namespaced: true });
export const ConfigMapModel = model("ConfigMap", "configmaps", { namespaced: true });
export const ServiceModel = model("Service", "services", { namespaced: true });
export const NamespaceModel = model("Namespace", "namespaces", { namespaced: false });
export const DeploymentModel = model("Deployment", "deployments", {
  namespaced: true,
  apiGroup: "apps",
  propagationPolicy: "Foreground",
});
