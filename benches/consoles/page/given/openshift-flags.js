// What a console gives to its page. The SDK's modules read it when they are loaded.
globalThis.SERVER_FLAGS = { basePath: "/" };
