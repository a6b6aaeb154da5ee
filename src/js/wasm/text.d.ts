// The bytes of watchcache_bg.wasm in base64: the build writes them to dist/wasm/text.js, for the entry that carries them.
declare const base64: string;
export default base64;
