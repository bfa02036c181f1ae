import type { Json } from '../../support/records.ts';
import type { World } from '../world.ts';

/** A record that a call wrote. */
export interface Written {
  readonly table: string;
  readonly id: string;
  /** Whether the call created it. */
  readonly isNew: boolean;
}

/** A call of a tool that succeeds. */
export interface Sample {
  /** Returns valid arguments; new ones for each call that writes. */
  readonly args: (world: World) => Json;
  /** Returns the records that the call wrote, given its answer; only for tools that write records. */
  readonly wrote?: (world: World, answer: Json, args: Json) => readonly Written[] | Promise<readonly Written[]>;
}

/** By the tool's name. */
export type Samples = Readonly<Record<string, Sample>>;

export const made = (table: string, id: string): Written => ({ table, id, isNew: true });
export const changed = (table: string, id: string): Written => ({ table, id, isNew: false });
