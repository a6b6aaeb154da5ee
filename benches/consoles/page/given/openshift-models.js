// What a console gives to its plugins as `@console/internal/models`: its models, with what is for people.
export const PodModel = {
  kind: "Pod",
  plural: "pods",
  abbr: "P",
  label: "Pod",
  labelPlural: "Pods",
  apiVersion: "v1",
  namespaced: true,
};
