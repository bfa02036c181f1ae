import { type ExportFormat, ExportParameters, exportRecords } from '../../transfer/index.ts';
import type { Endpoint } from '../endpoint/endpoint.ts';

const contentTypes: Record<ExportFormat, string> = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson',
  json: 'application/json',
};

/** CONTRACT "Export, import, migration": a table as a file, as the caller sees it. */
export const exportEndpoint: Endpoint = {
  method: 'GET',
  path: '/export/:className',
  async handle({ context, params: { className = '' }, query }) {
    const options = new ExportParameters(query);
    const pieces = await exportRecords(context, className, options);
    const { format } = options;
    const headers = {
      'content-type': contentTypes[format],
      // The name of a table is made of letters, digits and underscores.
      'content-disposition': `attachment; filename="${className}.${format}"`,
    };
    return { status: 200, json: pieces, headers };
  },
};
