// TanStack Query with a list and a watch by hand, as a careful author writes them: objects without managedFields. Events of one frame of the
// screen are taken at once.
import { QueryClient, QueryClientProvider, useQuery, useQueryClient } from "@tanstack/react-query";
import { createElement, useEffect } from "react";
import { keyOf } from "../../page/table/columns.js";
import { plain, useOrdered } from "./peers.js";

const PODS = "/api/v1/pods";
const PAGE = 500;
const QUERY = { queryKey: ["pods"], queryFn: list, staleTime: Infinity };

function stripped(object) {
  delete object.metadata.managedFields;
  return object;
}

async function list() {
  const objects = [];
  for (let next = ""; ;) {
    const answer = await fetch(`${PODS}?limit=${PAGE}${next && `&continue=${next}`}`, { cache: "no-store" });
    const { items, metadata } = await answer.json();
    for (const object of items) objects.push(stripped(object));
    if (!metadata.continue) return { objects, version: Number(metadata.resourceVersion) };
    next = metadata.continue;
  }
}

/** The list after these events; objects that did not change stay the same ones. */
function applied({ objects, version }, events, places) {
  const next = [...objects];
  for (const { type, object } of events) {
    const key = keyOf(object);
    const place = places.get(key);
    if (type === "DELETED") throw new Error("no pod is deleted in this benchmark");
    if (place === undefined) places.set(key, next.push(stripped(object)) - 1);
    else next[place] = stripped(object);
    version = Number(object.metadata.resourceVersion);
  }
  return { objects: next, version };
}

function usePods() {
  const client = useQueryClient();
  const { data } = useQuery(QUERY);
  const listed = data !== undefined;
  useEffect(() => {
    if (!listed) return undefined;
    const { objects, version } = client.getQueryData(QUERY.queryKey);
    const places = new Map(objects.map((object, place) => [keyOf(object), place]));
    let events = [];
    let drawing;
    const flush = () => {
      drawing = undefined;
      const taken = events;
      events = [];
      client.setQueryData(QUERY.queryKey, (last) => applied(last, taken, places));
    };
    const url = new URL(`${PODS}?watch=true&resourceVersion=${version}`, location.href);
    url.protocol = "ws:";
    const socket = new WebSocket(url);
    socket.onmessage = ({ data: frame }) => {
      events.push(JSON.parse(frame));
      drawing ??= requestAnimationFrame(flush);
    };
    return () => {
      socket.close();
      cancelAnimationFrame(drawing);
    };
  }, [client, listed]);
  return data?.objects;
}

export const query = (windowed) => () => {
  const client = new QueryClient();
  return {
    ...plain,
    windowed,
    Around: ({ children }) => createElement(QueryClientProvider, { client }, children),
    hold: () => client.prefetchQuery(QUERY),
    useRows: () => useOrdered(usePods()),
    reached: ({ version }) => client.getQueryData(QUERY.queryKey).version >= version,
    close() {},
  };
};
