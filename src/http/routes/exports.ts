import { Places } from '../../admission/places.ts';
import { fail } from '../../errors/fail.ts';
import { networkOf } from '../../kernel/network.ts';
import { type ExportFormat, ExportParameters, exportRecords } from '../../transfer/index.ts';
import { AwaitedPieces } from '../endpoint/awaited-pieces.ts';
import { inMemory } from '../endpoint/body-reader.ts';
import type { ApiRequest, Endpoint } from '../endpoint/endpoint.ts';

/** Of one that waits for its client: the page that is sent, and the next one as it was read. */
const BYTES_OF_EXPORT = 2 * 1024 * 1024;
/** Milliseconds that one waits for a place. */
const MAX_WAIT_MS = 30_000;

const contentTypes: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
};

/** CONTRACT "Export, import, migration": a table as a file, as the caller sees it. Exports under way are bounded (docs/adr/0017-admission.md). */
export function exportEndpoint(): Endpoint {
  const places = new Places(inMemory);
  return {
    method: 'GET',
    path: '/export/:className',
    async handle(request) {
      const { context, params, query, client } = request;
      const { className = '' } = params;
      const options = new ExportParameters(query);
      let giveUp = () => {};
      const pieces = await exportRecords({ ...context, until: client.gone() }, className, options, async () => {
        giveUp = await placeIn(places, request);
      });
      const { format } = options;
      const headers = {
        'content-type': contentTypes[format],
        // The name of a table is made of letters, digits and underscores.
        'content-disposition': `attachment; filename="${className}.${format}"`,
      };
      return { status: 200, json: new AwaitedPieces(pieces, giveUp), headers };
    },
  };
}

/** Waits for a place, which is free once the request is answered. @returns what has its client given up @throws unavailable */
async function placeIn(places: Places, { context, client }: ApiRequest): Promise<() => void> {
  const place = places.ask({ system: context.appId, caller: networkOf(client.address) }, BYTES_OF_EXPORT);
  // It is the answer that takes long.
  place.ended();
  client.freeWhenAnswered(place);
  if (!place.isGiven) {
    const timer = setTimeout(() => place.free(), MAX_WAIT_MS);
    await place.given;
    clearTimeout(timer);
  }
  return place.isGiven ? () => place.take() : fail('unavailable');
}
