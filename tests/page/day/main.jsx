// Routes around the example's component, switched by the test, and views of the same pods whose numbers must fit together.
import { StrictMode, useEffect, useMemo, useState } from "react";
import { flushSync } from "react-dom";
import { createRoot } from "react-dom/client";
import { Pods, cache, pods, useView } from "example";
import { check, found } from "./checks.js";
import { Slot } from "./probed-hooks.js";

const deployments = cache.resource("apps/v1/deployments");

function Total({ spec, resource = pods }) {
  const { total, counts, loaded } = useView(resource, spec);
  return (
    <span>
      {loaded ? total : "loading"} {counts.size}
    </span>
  );
}

const At = ({ slot, children }) => (
  <section data-slot={slot}>
    <h2>{slot}</h2>
    <Slot.Provider value={slot}>{children}</Slot.Provider>
  </section>
);

const NONE = { offset: 0, limit: 0 };
const GROUPS = { "by namespace": "metadata.namespace", "by phase": "status.phase", "by app": "metadata.labels.app" };

const Sums = () => (
  <>
    <At slot="everything">
      <Total spec={{ window: NONE }} />
    </At>
    {Object.entries(GROUPS).map(([slot, groupBy]) => (
      <At slot={slot} key={slot}>
        <Total spec={{ groupBy, window: NONE }} />
      </At>
    ))}
    <Joined />
  </>
);

/** Who reads two views in a callback of either sees one state. */
function Joined() {
  const views = useMemo(() => Object.values(GROUPS).map((groupBy) => pods.view({ groupBy, window: NONE })), []);
  useEffect(() => {
    const read = () => {
      const snapshots = views.map((view) => view.getSnapshot());
      if (!snapshots.every(({ loaded }) => loaded)) return;
      const sums = snapshots.flatMap(({ total, counts }) => [total, [...counts.values()].reduce((a, b) => a + b, 0)]);
      if (new Set(sums).size > 1) found(`in a callback the sums are ${sums.join(" ")}`);
    };
    const ends = views.map((view) => view.subscribe(read));
    return () => ends.forEach((end) => end());
  }, [views]);
}

/** A table that scrolls through all pods, a page at a time. */
function Scrolled() {
  const view = useMemo(() => pods.view({ orderBy: [{ path: "metadata.name", as: "natural" }], window: { offset: 0, limit: 20 } }), []);
  useEffect(() => {
    let offset = 0;
    const timer = setInterval(() => {
      offset = offset + 20 < view.total ? offset + 20 : 0;
      view.setWindow({ offset, limit: 20 });
      const { keys, total, loaded, ...rest } = view.getSnapshot();
      if (loaded && rest.offset !== offset) setTimeout(() => look(offset), 0);
    }, 40);
    const look = (wanted) => {
      const { offset: now } = view.getSnapshot();
      if (wanted === offset && now !== offset) found(`moved to ${offset}, the snapshot is at ${now}`);
    };
    return () => clearInterval(timer);
  }, [view]);
  return <Total spec={{ orderBy: [{ path: "metadata.name", as: "natural" }], window: NONE }} />;
}

const ROUTES = {
  nothing: () => null,
  table: () => (
    <At slot="first">
      <Pods />
    </At>
  ),
  tables: () => (
    <>
      <At slot="first">
        <Pods />
      </At>
      <At slot="second">
        <Pods />
      </At>
    </>
  ),
  sums: () => <Sums />,
  all: () => (
    <>
      <At slot="second">
        <Pods />
      </At>
      <Sums />
      <At slot="scrolled">
        <Scrolled />
      </At>
    </>
  ),
  deployments: () => (
    <At slot="deployments">
      <Total resource={deployments} spec={{ window: { offset: 0, limit: 10 } }} />
    </At>
  ),
};

let go;
function Routes() {
  const [route, setRoute] = useState("nothing");
  go = setRoute;
  const Route = ROUTES[route];
  return <Route key={route} />;
}

createRoot(document.querySelector("#routes")).render(
  <StrictMode>
    <Routes />
  </StrictMode>,
);

Object.assign(globalThis.day, { routes: Object.keys(ROUTES), go: (route) => flushSync(() => go(route)), cache, pods, deployments });

// A size that changes with each frame: its observer runs behind all callbacks of the frame, right before the frame is painted.
const pulse = document.body.appendChild(document.createElement("i"));
pulse.style.cssText = "position:fixed;height:1px";
new ResizeObserver(check).observe(pulse);
let frame = 0;
(function beat() {
  pulse.style.width = `${(frame++ % 2) + 1}px`;
  requestAnimationFrame(beat);
})();
