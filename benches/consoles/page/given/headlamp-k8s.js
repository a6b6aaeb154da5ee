// Which clusters the page's address names. The benchmark's table names its cluster itself.
const NONE = [];
export const useSelectedClusters = () => NONE;
export const useCluster = () => null;
export const useConnectApi = () => {};
