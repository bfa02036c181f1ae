import type { Service } from '../../test/support/service.ts';
import { fields, indexes, makeRecord, table } from './records.ts';
import { count, note } from './report.ts';
import { send, type Target } from './target.ts';

/** The service as a target: requests carry the API key, like those of a client's server. */
export function serviceTarget(service: Service): Target {
  const headers = { 'X-Platform-Application-Id': service.appId, 'X-Platform-API-Key': service.apiKey };
  return { name: 'service', url: service.url, headers };
}

/** Creates the table with its indexes, which needs the master key (schemas.md#create-a-table). */
export async function declareTable(service: Service): Promise<void> {
  const body = { className: table, fields, indexes };
  const { status, text } = await service.call('POST', `/platform/schemas/${table}`, { body });
  if (status !== 200) throw new Error(`declaring ${table} answered ${status} ${text}`);
}

/** Path for records, and the body of each. */
export interface Filling {
  readonly path: string;
  make(seed: number): Record<string, unknown>;
}

const usual: Filling = { path: `/platform/classes/${table}`, make: makeRecord };

/** Creates `records` records in batches over HTTP; returns all objectIds. */
export async function fill(target: Target, records: number, perBatch = 500, { path, make }: Filling = usual): Promise<string[]> {
  const started = performance.now();
  const ids: string[] = [];
  let next = 0;
  const client = async () => {
    while (next < records) {
      const first = next;
      next = Math.min(first + perBatch, records);
      const requests = Array.from({ length: next - first }, (_, index) => ({
        method: 'POST',
        path,
        body: make(first + index),
      }));
      const answers: { success?: { objectId: string } }[] = await send(target, {
        method: 'POST',
        path: '/platform/batch',
        body: { requests },
      });
      for (const answer of answers) {
        if (!answer.success) throw new Error(`${target.name}: a batch item was refused: ${JSON.stringify(answer)}`);
        ids.push(answer.success.objectId);
      }
    }
  };
  await Promise.all([client(), client()]);
  const seconds = (performance.now() - started) / 1000;
  note(`${target.name}: ${count(records)} records loaded in batches of ${perBatch}, ${count(records / seconds)} a second`);
  return ids;
}
