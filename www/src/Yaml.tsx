import { useMemo } from "react";
import type { KubeObject } from "watchcache";
import { stringify } from "yaml";

/** An object as kubectl prints it. Parts that stand in it twice are written twice. */
export default function Yaml({ object }: { object: object }) {
  const text = useMemo(() => {
    const { apiVersion = "v1", kind = "Pod", ...rest } = object as KubeObject;
    return stringify({ apiVersion, kind, ...rest }, { lineWidth: 0, aliasDuplicateObjects: false });
  }, [object]);
  return (
    <pre tabIndex={0} data-testid="yaml" aria-label="YAML">
      {text}
    </pre>
  );
}
