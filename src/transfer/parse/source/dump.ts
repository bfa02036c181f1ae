import type { JsonObject, JsonValue } from '../../../kernel/json.ts';
import { OperatorError } from '../../../kernel/operator-error.ts';
import { type DumpFile, dumped, filesOfDump } from './dump-files.ts';
import { recordOfExport, typeOfWire } from './export-record.ts';
import { recordOfDocument } from './mongo-record.ts';
import { classOfDocument } from './mongo-schema.ts';
import { joinName, type ParseClass, type ParseField, type ParseMember, type ParseRecord, type ParseSource } from './source.ts';

const SCHEMA = '_SCHEMA';
const isJoin = (name: string) => name.startsWith('_Join:');

/** Files of mongodump, mongoexport, or a Parse export. The latter has no schema; types are derived from values. */
export class DumpSource implements ParseSource {
  readonly #files: ReadonlyMap<string, DumpFile>;
  #classes: Promise<readonly ParseClass[]> | undefined;
  #isDerived = false;

  /** Opens a dump. @throws OperatorError if the directory contains none */
  static async open(directory: string): Promise<DumpSource> {
    return new DumpSource(await filesOfDump(directory));
  }

  private constructor(files: ReadonlyMap<string, DumpFile>) {
    this.#files = files;
  }

  classes(): Promise<readonly ParseClass[]> {
    this.#classes ??= this.#read();
    return this.#classes;
  }

  async others(): Promise<ReadonlyMap<string, number>> {
    const known = new Set((await this.classes()).map(({ className }) => className));
    const found = new Map<string, number>();
    for (const name of this.#files.keys())
      if (name !== SCHEMA && !isJoin(name) && !known.has(name)) found.set(name, await this.count(name));
    return found;
  }

  async count(className: string): Promise<number> {
    let count = 0;
    for await (const _ of this.#dumped(className)) count++;
    return count;
  }

  async *records(parseClass: ParseClass): AsyncGenerator<ParseRecord> {
    for await (const found of this.#dumped(parseClass.className))
      yield found.kind === 'wire'
        ? recordOfExport(found.object, parseClass.className)
        : recordOfDocument(found.document, parseClass);
  }

  async *members(className: string, field: string): AsyncGenerator<ParseMember> {
    for await (const found of this.#dumped(joinName(className, field))) {
      const { owningId, relatedId } = found.kind === 'wire' ? found.object : found.document;
      yield { owner: String(owningId), member: String(relatedId) };
    }
  }

  notes(): readonly string[] {
    return this.#isDerived
      ? ['the export has no schema: types are those of its values, and permissions and indexes are not known']
      : [];
  }

  async close(): Promise<void> {}

  async *#dumped(name: string) {
    const file = this.#files.get(name);
    if (file) yield* dumped(file);
  }

  async #read(): Promise<readonly ParseClass[]> {
    const classes: ParseClass[] = [];
    if (this.#files.has(SCHEMA)) {
      for await (const found of this.#dumped(SCHEMA))
        if (found.kind === 'document') classes.push(classOfDocument(found.document as JsonObject));
      if (classes.length === 0) throw new OperatorError('--from: _SCHEMA holds no classes');
      return classes;
    }
    this.#isDerived = true;
    for (const name of [...this.#files.keys()].sort()) if (!isJoin(name)) classes.push(await this.#derived(name));
    return classes;
  }

  /** Derives a class from its objects. */
  async #derived(className: string): Promise<ParseClass> {
    const fields = new Map<string, ParseField>();
    for await (const found of this.#dumped(className)) {
      if (found.kind === 'document')
        throw new OperatorError('--from: the collection _SCHEMA of Parse Server is missing in this dump');
      for (const [name, value] of recordOfExport(found.object, className).values)
        if (!fields.has(name) && !isEmpty(value)) fields.set(name, typeOfWire(value));
    }
    return { className, fields, permissions: 'unknown', indexes: new Map() };
  }
}

const isEmpty = (value: JsonValue): boolean => value === null;
