// The data of a graph: gzip blocks, unpacked on first use and checked against their digests. They are in the file, as
// base64, or come from a server.

/**
 * @typedef {{name: string, kind: string, digest: string, read: () => string | Promise<ArrayBuffer>}} PackedBlock
 * @typedef {Record<string, any>} Head
 */

export class DamagedBlock extends Error {}

/** The server does not answer; the request may be repeated. */
export class ServerLost extends Error {}

export class Blocks {
  /** @param {PackedBlock[]} packed */
  constructor(packed) {
    /** @type {Map<string, PackedBlock>} */
    this.packed = new Map(packed.map((block) => [block.name, block]));
    /** @type {Map<string, Promise<any>>} */
    this.unpacked = new Map();
    /** @type {string[]} names of blocks that could not be read */
    this.damaged = [];
  }

  /** @param {string} name */
  has(name) {
    return this.packed.has(name);
  }

  /** The content of a block: an Int32Array or a value of JSON. @param {string} name @returns {Promise<any>} */
  get(name) {
    let content = this.unpacked.get(name);
    if (!content) {
      content = this.unpack(name);
      this.unpacked.set(name, content);
      content.catch((error) => error instanceof ServerLost && this.unpacked.delete(name));
    }
    return content;
  }

  /** @param {string} name */
  async unpack(name) {
    const block = this.packed.get(name);
    if (!block) throw new DamagedBlock(name);
    try {
      const packed = await block.read();
      const data = await inflate(typeof packed === "string" ? decodeBase64(packed) : new Uint8Array(packed));
      if (globalThis.crypto?.subtle) {
        const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", data));
        if (hexText(digest).slice(0, 32) !== block.digest) throw new DamagedBlock(name);
      }
      if (block.kind === "ints") return new Int32Array(data);
      if (block.kind === "columns") return data;
      return JSON.parse(new TextDecoder().decode(data));
    } catch (error) {
      if (error instanceof ServerLost) throw error;
      this.damaged.push(name);
      throw new DamagedBlock(name);
    }
  }
}

/** @param {string} text @returns {Uint8Array} */
function decodeBase64(text) {
  const binary = atob(text);
  const out = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at++) out[at] = binary.charCodeAt(at);
  return out;
}

/** @param {Uint8Array} data @returns {Promise<ArrayBuffer>} */
function inflate(data) {
  const stream = new Blob([/** @type {any} */ (data)]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).arrayBuffer();
}

/** @param {Uint8Array} bytes */
const hexText = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
