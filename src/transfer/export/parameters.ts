import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { type FindOptions, type NamedParameters, ReadParameters, whereOption } from '../../query/index.ts';

/** Output formats of an export. Reference: export.md#formats. */
export const exportFormats = ['csv', 'ndjson', 'json'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** Options of an export. */
export interface ExportOptions extends Pick<FindOptions, 'refuseUnknown' | 'where' | 'keys' | 'include' | 'order'> {
  readonly format: ExportFormat;
  /** Whether CSV begins with a byte order mark, by which Excel recognises UTF-8. */
  readonly bom: boolean;
  /** Whether cells that a spreadsheet would read as a formula stay unchanged. */
  readonly raw: boolean;
}

const known: ReadonlySet<string> = new Set(['format', 'where', 'keys', 'include', 'order', 'bom', 'raw']);

/**
 * Options of an export, each parsed from its parameter when first read, like those of a query.
 * All getters throw badParameterValue (102); `where` also throws errors of queries.
 */
export class ExportParameters extends ReadParameters implements ExportOptions {
  constructor(given: NamedParameters) {
    super(given, known);
  }

  get where(): JsonObject | undefined {
    return whereOption(this.given.get('where'));
  }

  get order(): readonly string[] {
    return this.names('order');
  }

  get format(): ExportFormat {
    const requested: JsonValue | undefined = this.given.get('format');
    if (requested === undefined) return 'csv';
    return exportFormats.find((one) => one === requested) ?? fail('badParameterValue', 'format', 'should be csv, ndjson or json');
  }

  get bom(): boolean {
    return this.#ofCsv('bom');
  }

  get raw(): boolean {
    return this.#ofCsv('raw');
  }

  #ofCsv(name: string): boolean {
    const is = this.flag(name);
    if (is && this.format !== 'csv') fail('badParameterValue', name, 'is for csv alone');
    return is;
  }
}
