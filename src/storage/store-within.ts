import type { Schema } from '../schema/model.ts';
import type { Store } from './port.ts';

/** The operations of a store inside an open transaction. */
export interface Within extends Pick<Store, 'write' | 'whenCurrent'> {
  /** Includes the changes of the transaction so far. */
  schema(): Schema;
}

/**
 * Returns a store whose writes are part of one transaction and durable with it (`Store.bulkTransaction`). Everything else is delegated to the outer
 * store.
 */
export function storeWithin(outer: Store, own: Within): Store {
  const within: Store = {
    reader: outer.reader,
    raw: outer.raw,
    recordForm: () => outer.recordForm(),
    durableSchema: () => own.schema(),
    isCurrent: () => outer.isCurrent(),
    tableVersion: (className) => outer.tableVersion(className),
    writeBehind: (write) => outer.writeBehind(write),
    fillSearchIndex: (className, shouldStop) => outer.fillSearchIndex(className, shouldStop),
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
