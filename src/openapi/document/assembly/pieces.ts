import { setImmediate as turn } from 'node:timers/promises';
import type { JsonObject } from '../../../kernel/json.ts';
import { type ComponentKind, componentKinds, refsIn } from '../components/refs.ts';

/** How long a description is made without a turn for other work, in milliseconds. */
const SLICE_MS = 5;

/** Lets other work have its turn whenever a slice of time is used up. */
export class Slices {
  #began = performance.now();

  async pause(): Promise<void> {
    if (performance.now() - this.#began < SLICE_MS) return;
    await turn();
    this.#began = performance.now();
  }
}

/** A JSON object as text that grows member by member. */
export class Members {
  #text = '';
  readonly #names = new Set<string>();
  readonly #heard: (text: string) => void;

  /** @param heard receives the text of each value */
  constructor(heard: (text: string) => void) {
    this.#heard = heard;
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** Adds a member; of several of one name the first stays. */
  add(name: string, value: JsonObject): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    const text = JSON.stringify(value);
    this.#text += `${this.#text === '' ? '' : ','}${JSON.stringify(name)}:${text}`;
    this.#heard(text);
  }

  toString(): string {
    return `{${this.#text}}`;
  }
}

/** The components that a description refers to. */
export class Components {
  readonly #members = new Map(componentKinds.map((kind) => [kind, new Members((text) => this.hear(text))]));
  readonly #wanted: [ComponentKind, string][] = [];
  readonly #seen = new Set<string>();

  /** Takes note of what a text refers to. */
  hear(text: string): void {
    for (const { kind, name } of refsIn(text)) {
      const key = `${kind}/${name}`;
      if (this.#seen.has(key)) continue;
      this.#seen.add(key);
      this.#wanted.push([kind, name]);
    }
  }

  add(kind: ComponentKind, name: string, value: JsonObject): void {
    this.#members.get(kind)?.add(name, value);
  }

  /** Adds what is referred to and has not been added, with what that refers to. @param find returns a component */
  complete(find: (kind: ComponentKind, name: string) => JsonObject | undefined): void {
    for (let wanted = this.#wanted.pop(); wanted; wanted = this.#wanted.pop()) {
      const [kind, name] = wanted;
      const found = this.#members.get(kind)?.has(name) ? undefined : find(kind, name);
      if (found) this.add(kind, name, found);
    }
  }

  /** Returns the kinds with members, as members of a JSON object. */
  toString(): string {
    const texts = [...this.#members].map(([kind, members]) => `${JSON.stringify(kind)}:${members}`);
    return texts.join(',');
  }
}
