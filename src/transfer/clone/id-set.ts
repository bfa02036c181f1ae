const INITIAL_IDS = 1 << 10;
/** Bytes of a usual id; the buffer grows if they are longer. */
const USUAL_BYTES = 10;
/** Share of the slots that may be in use. */
const MAX_LOAD = 0.6;

/**
 * A set of record ids in the order in which they were added. Takes about 25 bytes for an id of ten characters, a fourth of what a Set takes.
 */
export class IdSet {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_IDS * USUAL_BYTES);
  /** Where each id ends in `#bytes`. */
  #ends = new Float64Array(INITIAL_IDS);
  /** Open addressing: place of an id plus 1; 0 is free. */
  #slots = new Uint32Array(2 * INITIAL_IDS);
  #size = 0;
  #scratch = Buffer.allocUnsafeSlow(256);

  get size(): number {
    return this.#size;
  }

  /** Returns the id that was added as number `at`, from 0. */
  at(at: number): string {
    return this.#bytes.toString('utf8', this.#startOf(at), this.#ends[at]);
  }

  /** Returns the number of an id; -1 if it is not in the set. */
  indexOf(id: string): number {
    const found = this.#slots[this.#slotOf(this.#written(id))] ?? 0;
    return found - 1;
  }

  has(id: string): boolean {
    return this.indexOf(id) >= 0;
  }

  /** @returns whether it was new */
  add(id: string): boolean {
    const length = this.#written(id);
    const slot = this.#slotOf(length);
    if (this.#slots[slot] !== 0) return false;
    const start = this.#startOf(this.#size);
    this.#reserve(start + length);
    this.#scratch.copy(this.#bytes, start, 0, length);
    this.#ends[this.#size++] = start + length;
    this.#slots[slot] = this.#size;
    if (this.#size > MAX_LOAD * this.#slots.length) this.#widen();
    return true;
  }

  #startOf(at: number): number {
    return at === 0 ? 0 : (this.#ends[at - 1] ?? 0);
  }

  /** Writes an id to `#scratch`. @returns its length in bytes */
  #written(id: string): number {
    if (id.length * 3 > this.#scratch.length) this.#scratch = Buffer.allocUnsafeSlow(id.length * 6);
    return this.#scratch.write(id, 'utf8');
  }

  /** Returns the slot of the id in `#scratch`, or the free slot in which it belongs. */
  #slotOf(length: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hashOf(this.#scratch, 0, length) & mask; ; slot = (slot + 1) & mask) {
      const found = this.#slots[slot] ?? 0;
      if (found === 0) return slot;
      const [start, end] = [this.#startOf(found - 1), this.#ends[found - 1] ?? 0];
      if (end - start === length && this.#bytes.compare(this.#scratch, 0, length, start, end) === 0) return slot;
    }
  }

  #reserve(bytes: number): void {
    if (bytes > this.#bytes.length) {
      const wider = Buffer.allocUnsafeSlow(2 * bytes);
      this.#bytes.copy(wider, 0, 0, this.#startOf(this.#size));
      this.#bytes = wider;
    }
    if (this.#size < this.#ends.length) return;
    const ends = new Float64Array(2 * this.#ends.length);
    ends.set(this.#ends);
    this.#ends = ends;
  }

  #widen(): void {
    this.#slots = new Uint32Array(2 * this.#slots.length);
    const mask = this.#slots.length - 1;
    for (let at = 0; at < this.#size; at++) {
      let slot = hashOf(this.#bytes, this.#startOf(at), this.#ends[at] ?? 0) & mask;
      while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
      this.#slots[slot] = at + 1;
    }
  }
}

/** FNV-1a with a final mix, since the low bits choose the slot. */
function hashOf(bytes: Buffer, start: number, end: number): number {
  let hash = 0x811c9dc5;
  for (let at = start; at < end; at++) hash = Math.imul(hash ^ (bytes[at] ?? 0), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  return (hash ^ (hash >>> 13)) >>> 0;
}
