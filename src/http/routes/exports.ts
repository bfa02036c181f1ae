import { ReservationPool } from '../../admission/reservation-pool.ts';
import { fail } from '../../errors/fail.ts';
import { networkOf } from '../../kernel/network.ts';
import { type ExportFormat, ExportParameters, exportRecords } from '../../transfer/index.ts';
import { memoryBounds } from '../endpoint/body-reader.ts';
import type { ApiRequest, Endpoint } from '../endpoint/endpoint.ts';
import { StallGuardedPieces } from '../endpoint/stall-guard.ts';

/** Memory of an export that waits for its client: the page being sent and the next one, already read. */
export const EXPORT_BYTES = 2 * 1024 * 1024;
/** How long an export waits for its memory reservation. */
export const MAX_WAIT_MS = 30_000;

const contentTypes: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
};

/**
 * Streams a table as a file, as the caller sees it. The number of concurrent exports is bounded (docs/adr/0017-admission.md). Reference:
 * export.md#export-over-http.
 */
export function exportEndpoint(): Endpoint {
  const pool = new ReservationPool(memoryBounds);
  return {
    method: 'GET',
    path: '/export/:className',
    async handle(request) {
      const { context, params, query, client } = request;
      const { className = '' } = params;
      const options = new ExportParameters(query);
      let giveUp = () => {};
      const pieces = await exportRecords({ ...context, until: client.goneSignal() }, className, options, async () => {
        giveUp = await reserve(pool, request);
      });
      const { format } = options;
      const headers = {
        'content-type': contentTypes[format],
        // Table names consist of letters, digits and underscores, so they need no escaping.
        'content-disposition': `attachment; filename="${className}.${format}"`,
      };
      return { status: 200, json: new StallGuardedPieces(pieces, giveUp), headers };
    },
  };
}

/** Waits for a reservation, which is freed when the request is answered. @returns function that abandons the client @throws unavailable */
async function reserve(pool: ReservationPool, { context, client }: ApiRequest): Promise<() => void> {
  const reservation = pool.request({ system: context.appId, caller: networkOf(client.address) }, EXPORT_BYTES);
  // There is no body to wait for; the answer is what takes long.
  reservation.completed();
  client.releaseWhenAnswered(reservation);
  if (!reservation.isGranted) {
    const timer = setTimeout(() => reservation.release(), MAX_WAIT_MS);
    await reservation.granted;
    clearTimeout(timer);
  }
  return reservation.isGranted ? () => reservation.revoke() : fail('unavailable');
}
