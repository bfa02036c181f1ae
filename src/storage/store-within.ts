import type { Schema } from '../schema/model.ts';
import type { Store } from './port.ts';

/** What a store does inside a transaction that is open. */
export interface Within extends Pick<Store, 'write' | 'whenCurrent'> {
  /** With what the transaction has changed so far. */
  schema(): Schema;
}

/** A store whose writes are part of one transaction, durable with it (`Store.bulkTransaction`). All else is the outer store's. */
export function storeWithin(outer: Store, own: Within): Store {
  const within: Store = {
    reader: outer.reader,
    raw: outer.raw,
    isCurrent: () => outer.isCurrent(),
    tableVersion: (className) => outer.tableVersion(className),
    writeBehind: (write) => outer.writeBehind(write),
    fillSearchIndex: (className, isEnough) => outer.fillSearchIndex(className, isEnough),
    keyVersions: (keys) => outer.keyVersions(keys),
    cluster: outer.cluster,
    withSnapshot: (inner) => outer.withSnapshot(inner),
    place: outer.place,
    bulkTransaction: (inner) => inner(within),
    whenBack: () => outer.whenBack(),
    close: async () => {},
    ...own,
  };
  return within;
}
