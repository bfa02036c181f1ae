import { fail } from '../../errors/fail.ts';
import type { JsonObject, JsonValue } from '../../kernel/json.ts';
import { type FindOptions, type NamedParameters, ReadParameters, whereOption } from '../../query/index.ts';

/** What the records of an export are written as. */
export const exportFormats = ['csv', 'ndjson', 'json'] as const;
export type ExportFormat = (typeof exportFormats)[number];

/** What to export, and how. */
export interface ExportOptions extends Pick<FindOptions, 'refuseUnknown' | 'where' | 'keys' | 'include' | 'order'> {
  readonly format: ExportFormat;
  /** Whether CSV begins with a byte order mark, by which Excel knows that it is UTF-8. */
  readonly bom: boolean;
  /** Whether cells that a spreadsheet takes for a formula stay as they are. */
  readonly raw: boolean;
}

const known: ReadonlySet<string> = new Set(['format', 'where', 'keys', 'include', 'order', 'bom', 'raw']);

/**
 * The options of an export, parsed from parameters when each is read, as those of a query are.
 * All getters throw badParameterValue (102); `where` as of a query.
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
    const asked: JsonValue | undefined = this.given.get('format');
    if (asked === undefined) return 'csv';
    return exportFormats.find((one) => one === asked) ?? fail('badParameterValue', 'format', 'should be csv, ndjson or json');
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
