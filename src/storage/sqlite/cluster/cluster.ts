import { newObjectId } from '../../../kernel/ids.ts';
import type { Cluster } from '../../cluster.ts';

const processId = newObjectId();

/** One process has a data directory to itself (exclusive-access.ts), so all periodic work is its own. */
export const embeddedCluster: Cluster = {
  processId,
  noticesAllWrites: true,
  async processes() {
    return new Set([processId]);
  },
  async takeLease() {
    return true;
  },
};
