// What a list can be asked for, by its name: as the package asks for a part, and so do its peers.
export const PARTS = {
  Object: "application/json",
  Table: "application/json;as=Table;g=meta.k8s.io;v=v1",
  PartialObjectMetadata: "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
};
