import type { Schema } from '../../../schema/model.ts';
import type { PreparedWrite, Store, WriteOutcome } from '../../port.ts';

/** What a store does inside a transaction that is open. */
export interface Within {
  /** With what the transaction has changed so far. */
  schema(): Schema;
  /** @throws unavailable where the transaction has ended */
  carryOut(write: PreparedWrite): WriteOutcome;
}

/** A store whose writes are part of one transaction, durable with it (`Store.inOneCommit`). All else is the outer store's. */
export function storeWithin(outer: Store, { schema, carryOut }: Within): Store {
  const within: Store = {
    reader: outer.reader,
    contents: outer.contents,
    schema,
    whenCurrent: () => outer.whenCurrent(),
    tableVersion: (className) => outer.tableVersion(className),
    writeBehind: (write) => outer.writeBehind(write),
    write: async (write) => carryOut(write),
    keyVersions: (keys) => outer.keyVersions(keys),
    claim: (job, everyMs) => outer.claim(job, everyMs),
    processId: outer.processId,
    peers: () => outer.peers(),
    inOneCommit: (inner) => inner(within),
    whenBack: () => outer.whenBack(),
    close: async () => {},
  };
  return within;
}
