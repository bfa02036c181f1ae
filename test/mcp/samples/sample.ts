import type { Json } from '../../support/records.ts';
import type { World } from '../world.ts';

/** A record that a call wrote. */
export interface Written {
  readonly table: string;
  readonly id: string;
  /** Whether the call made it. */
  readonly isNew: boolean;
}

/** A call of a tool that succeeds. */
export interface Sample {
  /** Valid arguments; anew for each call that writes. */
  readonly args: (world: World) => Json;
  /** The records that it wrote, by what it answered; for writes of records. */
  readonly wrote?: (world: World, answer: Json, args: Json) => readonly Written[] | Promise<readonly Written[]>;
}

/** By the tool's name. */
export type Samples = Readonly<Record<string, Sample>>;

export const made = (table: string, id: string): Written => ({ table, id, isNew: true });
export const changed = (table: string, id: string): Written => ({ table, id, isNew: false });
