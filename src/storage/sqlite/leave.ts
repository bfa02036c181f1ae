import type { GenerationGrown } from '../engine-port.ts';
import type { Connection } from './connection.ts';
import { growGeneration } from './identity.ts';
import type { LogMark } from './log-mark.ts';

/** Who hears of a store's last commit. */
export interface LeaveEvents {
  readonly log?: Pick<LogMark, 'committed' | 'isGeneration'>;
  /** As of `Engine.open`. */
  readonly grown?: GenerationGrown;
}

/**
 * Has the generation of a store grow that was served and is about to be closed (docs/adr/0020). What cannot be noted is not: the registry knows
 * an earlier generation, which says nothing wrong. Never rejects.
 */
export async function leave(connection: Connection, { log, grown }: LeaveEvents): Promise<void> {
  if (!grown || !connection.isOpen) return;
  try {
    const generation = connection.ask(growGeneration);
    if (generation === null) return;
    log?.isGeneration(generation);
    log?.committed(connection.db);
    await grown(generation);
  } catch {
    // The disk is full, or worse.
  }
}
