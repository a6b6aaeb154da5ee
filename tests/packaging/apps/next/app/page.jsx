import { Pods } from "./pods";

export default function Page() {
  return <Pods />;
}
