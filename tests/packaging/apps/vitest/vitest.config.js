import { defineConfig } from "vitest/config";

export default defineConfig({ test: { include: ["*.spec.js"], testTimeout: 60_000 } });
