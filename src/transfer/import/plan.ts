import { createHash, type Hash } from 'node:crypto';
import { authorize, mayCreateTable, refuseOutright, visibilityOf } from '../../access/index.ts';
import { fail } from '../../errors/fail.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { similarTo } from '../../kernel/similar.ts';
import { type RecordContext, readLabels } from '../../records/index.ts';
import { checkClassName, type TableSchema } from '../../schema/model.ts';
import { isLog } from '../../schema/system-tables.ts';
import { csvRows, planCsv } from './columns/csv-columns.ts';
import { type JsonOptions, planJson } from './columns/json-columns.ts';
import type { ImportRequest } from './columns/request.ts';
import type { SourceRow } from './columns/row.ts';
import { comparable, type FieldMap, type LinkTarget, perhaps, refuseMissingTable, shown, Targets } from './columns/targets.ts';
import { checkEncoding, decode, FALLBACK, inUtf8, markedEncoding, NotInEncoding } from './source/encoding.ts';
import { type Form, type Format, formOf, SAMPLE_BYTES } from './source/format.ts';
import { readElements } from './source/json-elements.ts';
import { type Line, readLines } from './source/lines.ts';

/** A file to import. */
export interface ImportFile {
  /** Returns the bytes from the beginning; may be called repeatedly. */
  read(): AsyncIterable<Buffer>;
  /** Its extension may indicate the format. */
  readonly name: string;
}

/** A file that was examined and has no fault that would refuse it as a whole. */
export interface ImportPlan {
  readonly format: Format;
  /** Word for a record in messages. */
  readonly unit: 'row' | 'line' | 'record';
  /** Number of records. */
  readonly rows: number;
  /** SHA-256 of its bytes, in hexadecimal. */
  readonly digest: string;
  /** Remarks on how the file is read. */
  readonly notes: readonly string[];
  /** Fields of the table by which rows of the file reference each other. */
  readonly linkedBy: readonly string[];
  /** Fields that the table had when the columns were resolved. */
  readonly fields: ReadonlySet<string>;
  /** Whether rows look up existing records. */
  readonly looksUp: boolean;
  /** Returns the rows in order, in blocks. */
  read(): AsyncIterable<readonly SourceRow[]>;
}

/**
 * Checks the caller's rights.
 * @throws invalidClassName (103); permissionDenied (119), also for hidden tables, logs and sessions: imports must not forge history
 */
export function refuseImport(
  { store, principal }: RecordContext,
  { className, matchOn }: Pick<ImportRequest, 'className' | 'matchOn'>,
): void {
  const table = store.schema().tables.get(className);
  if (!table) checkClassName(className);
  refuseOutright(principal, 'create', className);
  if (isLog(className) || className === '_Session' || className === '_AdminLog') fail('permissionDenied', 'create', className);
  if (!table) {
    if (!mayCreateTable(principal)) fail('permissionDenied', 'create', className);
    return;
  }
  authorize(principal, 'create', table);
  if (matchOn.length === 0) return;
  authorize(principal, 'find', table);
  authorize(principal, 'update', table);
}

/**
 * Examines a file before anything of it is written. Reference: import.md#columns.
 * @param onProgress called with the number of rows so far
 * @throws OperatorError with the reason why nothing of it can be imported; errors of `refuseImport`
 */
export async function planImport(
  context: RecordContext,
  file: ImportFile,
  request: ImportRequest,
  onProgress: (rows: number) => void = () => {},
): Promise<ImportPlan> {
  refuseImport(context, request);
  const { className, encoding } = request;
  if (encoding !== undefined) checkEncoding(encoding);
  const schema = context.store.schema();
  const table = schema.tables.get(className);
  if (!table && !request.newFields) refuseMissingTable(schema, className);
  const start = await startOf(file);
  const marked = encoding ?? markedEncoding(start);
  const text = new TextDecoder(marked ?? 'utf-8').decode(start);
  const form = formOf(request.format, text, file.name, table?.fields.has('results') === true);
  const targets = await targetsFor(context, request, table);
  checkMatching(request, targets, table);
  const reading = { file, request, form, targets, onProgress };
  try {
    return await planAs(reading, marked ?? 'utf-8', []);
  } catch (error) {
    if (!(error instanceof NotInEncoding)) throw error;
    if (marked !== undefined) throw new OperatorError(`the file is not in ${marked}. Nothing was imported`);
    if (!error.isFromStart || form.format !== 'csv') throw damaged();
  }
  try {
    return await planAs(reading, FALLBACK, [`the file is not in UTF-8: it is read as ${FALLBACK}; --encoding names another`]);
  } catch (error) {
    throw error instanceof NotInEncoding ? damaged() : error;
  }
}

const damaged = () =>
  new OperatorError(
    'the file is neither in UTF-8 as a whole nor in windows-1255; --encoding names its encoding. Nothing was imported',
  );

async function startOf(file: ImportFile): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of file.read()) {
    parts.push(chunk);
    bytes += chunk.length;
    if (bytes >= SAMPLE_BYTES) break;
  }
  return Buffer.concat(parts).subarray(0, SAMPLE_BYTES);
}

async function targetsFor(context: RecordContext, { className, map, newFields }: ImportRequest, table: TableSchema | undefined) {
  const { store, principal } = context;
  const labels = (await readLabels(store, className)).get(className) ?? new Map<string, string>();
  const grant = table ? authorize(principal, 'create', table) : null;
  const hiddenOf = (of: TableSchema) => visibilityOf(principal, of).hiddenFields;
  return new Targets({ schema: store.schema(), className, table, grant, hiddenOf, labels, map, newFields });
}

function checkMatching({ matchOn, newFields, className }: ImportRequest, targets: Targets, table: TableSchema | undefined): void {
  for (const name of matchOn) {
    const field = targets.field(name);
    if (!field && !newFields) {
      const nearest = similarTo(
        name,
        [...(table?.fields.keys() ?? [])].filter((one) => targets.field(one) !== undefined),
      );
      throw new OperatorError(`rows are matched on ${shown(name)}, which is no field of ${className}${perhaps(nearest)}`);
    }
    if (field && !comparable.has(field.type))
      throw new OperatorError(`rows are matched on ${name}, which is of the type ${field.type}: its values are not compared`);
  }
}

/** Context for reading a file. */
interface Reading {
  readonly file: ImportFile;
  readonly request: ImportRequest;
  readonly form: Form;
  readonly targets: Targets;
  readonly onProgress: (rows: number) => void;
}

async function planAs(reading: Reading, encoding: string, notes: readonly string[]): Promise<ImportPlan> {
  const { file, request, form, onProgress, targets } = reading;
  const { className, map, dateOrder: dates, longest = Number.POSITIVE_INFINITY } = request;
  const { format } = form;
  const links = linksOf(targets, map);
  const linkedBy = [...new Set(links.filter((link) => link.className === className).map(({ by }) => by.name))];
  const fields = targets.names;
  const looksUp = links.length > 0 || request.matchOn.length > 0;
  const hash = createHash('sha256');
  const chunks = hashed(file.read(), hash);
  if (form.holder === 'rows') {
    const plan = await planCsv(decode(chunks, encoding), { className, targets, map, dates, longest }, onProgress);
    const read = async function* () {
      let isHeader = true;
      for await (const block of csvRows(decode(file.read(), encoding))) {
        const rows = isHeader ? block.slice(1) : block;
        isHeader &&= block.length === 0;
        yield rows.map((row) => plan.row(row));
      }
    };
    return { format, unit: 'row', rows: plan.rows, digest: hash.digest('hex'), notes, fields, linkedBy, looksUp, read };
  }
  const blocks = (bytes: AsyncIterable<Buffer>) => {
    const utf8 = isUtf8(encoding) ? bytes : inUtf8(bytes, encoding);
    return form.holder === 'lines' ? readLines(utf8) : readElements(utf8, form.holder as 'list');
  };
  const unit = form.holder === 'lines' ? 'line' : 'record';
  const shape = format === 'mongoexport' ? 'document' : format === 'parse' ? 'object' : 'row';
  const options: JsonOptions = { className, targets, map, shape, unit, newFields: request.newFields, longest };
  const plan = await planJson(blocks(chunks), options, onProgress);
  const read = async function* () {
    let number = 0;
    for await (const block of blocks(file.read())) {
      const rows: SourceRow[] = [];
      for (const line of block) {
        number++;
        const text = withoutMark(line, number);
        if (text?.trim() !== '') rows.push(plan.row(number, text));
      }
      yield rows;
    }
  };
  return { format, unit, rows: plan.rows, digest: hash.digest('hex'), notes, fields, linkedBy, looksUp, read };
}

const linksOf = (targets: Targets, map: FieldMap): LinkTarget[] =>
  [...map.keys()].flatMap((column) => {
    const target = targets.of(column);
    return 'kind' in target && target.kind === 'link' ? [target] : [];
  });

const isUtf8 = (encoding: string): boolean => new TextDecoder(encoding).encoding === 'utf-8';

/** Removes the byte order mark that Windows programs write. */
const withoutMark = (line: Line, number: number): Line => (number === 1 && line?.startsWith('\uFEFF') ? line.slice(1) : line);

async function* hashed(chunks: AsyncIterable<Buffer>, hash: Hash): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    hash.update(chunk);
    yield chunk;
  }
}
