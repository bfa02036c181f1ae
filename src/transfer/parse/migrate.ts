import { setTimeout as pause } from 'node:timers/promises';
import { ADMIN } from '../../access/index.ts';
import type { Files } from '../../files/index.ts';
import { readFirst } from '../../records/index.ts';
import { type ClassLevelPermissions, tableOf } from '../../schema/model.ts';
import { type MigrationPlan, type PlannedClass, planMigration } from './plan/plan.ts';
import { type MigrationReport, reportOf } from './report.ts';
import { openParseSource } from './source/open.ts';
import type { ParseSource } from './source/source.ts';
import { FileBringer, type FileOrigin, fileOriginOf } from './write/files-from.ts';
import { Findings } from './write/findings.ts';
import { RecordMapper } from './write/record-mapper.ts';
import { type MergedRole, surveyClass } from './write/survey.ts';
import { makeIndexes, type PlannedTable, prepareTables, type Target } from './write/target.ts';
import { writeMembers } from './write/write-members.ts';
import { type BatchBounds, writeRecords } from './write/write-records.ts';
import { writeRoles } from './write/write-roles.ts';

/** What an operator asks for. */
export interface MigrationOptions {
  /** `postgres://…`, `mongodb://…`, or a directory of dumps. */
  readonly from: string;
  /** A directory or an address; `null`: the bytes of files stay where they are. */
  readonly filesFrom: string | null;
  /** Names of classes; `null`: all. */
  readonly only: readonly string[] | null;
  /** Whether nothing is written. */
  readonly isDry: boolean;
  /** Whether objects that are here already stay as they are. */
  readonly isContinued: boolean;
}

/** Whereto, and who else works on it. */
export interface MigrationTarget extends Target {
  readonly files: () => Promise<Files>;
  readonly company: () => 'none' | 'waiting' | 'working';
}

/** What is told in the course of a migration. */
export interface MigrationEvents {
  /** Objects of a class are looked at. */
  looking(className: string, done: number): void;
  /** Objects of a class, or members of a Relation, are written. @param share of all objects, from 0 to 1 */
  writing(what: string, done: number, share: number): void;
}

/** What shares a commit: little where others wait for it. */
const batchSizes = { none: 1_000, waiting: 500, working: 1_000 } as const;
const BATCH_CHARACTERS = 2 * 1024 * 1024;

/**
 * Takes the data of a Parse Server over into a system (CONTRACT "Export, import, migration"). The source is looked through first, so that
 * what cannot be is refused before anything is written; then tables, users, roles, objects, members of Relations, indexes are made. Each batch is
 * a commit, and objects keep their ids: a run that was cut off goes on with `isContinued`. No trigger runs, and no timeline hears of it.
 * @throws OperatorError where the source cannot be read, or something cannot be taken over as a whole; errors of the store
 */
export async function migrateParse(
  options: MigrationOptions,
  target: MigrationTarget,
  events: MigrationEvents,
): Promise<MigrationReport> {
  const origin = options.filesFrom === null ? null : await fileOriginOf(options.filesFrom);
  const source = await openParseSource(options.from);
  try {
    const plan = planMigration(target.store.schema(), await source.classes(), options.only);
    return await new Migration(options, { target, source, plan, origin, events }).run();
  } finally {
    await source.close();
  }
}

interface MigrationParts {
  readonly target: MigrationTarget;
  readonly source: ParseSource;
  readonly plan: MigrationPlan;
  readonly origin: FileOrigin | null;
  readonly events: MigrationEvents;
}

class Migration {
  readonly #options: MigrationOptions;
  readonly #parts: MigrationParts;
  /** Of the look at the source. */
  readonly #seen = new Findings();
  readonly #merged: MergedRole[] = [];
  readonly #permissions: string[] = [];
  readonly #indexesLeftOut: string[] = [];
  #newAdministrators = 0;

  constructor(options: MigrationOptions, parts: MigrationParts) {
    this.#options = options;
    this.#parts = parts;
  }

  async run(): Promise<MigrationReport> {
    const { plan, source } = this.#parts;
    await this.#look();
    const tables = await this.#tables();
    const written = this.#options.isDry ? this.#seen : await this.#write(tables);
    written.sharedNames = this.#seen.sharedNames;
    const notTaken = new Map<string, number>();
    const others = this.#options.only ? [] : plan.notTaken;
    for (const name of others) notTaken.set(name, await source.count(name));
    if (!this.#options.only) for (const [name, count] of await source.others()) notTaken.set(name, count);
    return reportOf({
      plan,
      findings: written,
      notTaken: new Map([...notTaken].filter(([, count]) => count > 0).sort(([a], [b]) => (a < b ? -1 : 1))),
      merged: this.#merged,
      newAdministrators: this.#newAdministrators,
      permissions: this.#permissions,
      indexesLeftOut: this.#indexesLeftOut,
      notes: source.notes(),
      bringsFiles: this.#parts.origin !== null,
    });
  }

  async #look(): Promise<void> {
    const { plan, source, target, origin, events } = this.#parts;
    const { isDry, isContinued } = this.#options;
    const bringer = origin && isDry ? new FileBringer(origin, null, target, this.#seen) : null;
    for (const planned of plan.classes) {
      const merged = await surveyClass(
        {
          source,
          target,
          findings: this.#seen,
          isContinued,
          bringsFiles: origin !== null,
          bringer,
          looked: (className, done) => events.looking(className, done),
        },
        planned,
      );
      this.#merged.push(...merged);
    }
    const admin = this.#merged.find(({ name }) => name === ADMIN);
    for (const [planned, field] of relationsOf(plan))
      for await (const { owner } of source.members(planned.className, field)) {
        this.#seen.members++;
        if (owner === admin?.sourceId && planned.className === '_Role' && field === 'users') this.#newAdministrators++;
      }
  }

  /** Decides on permissions: a table with records of this system keeps its own. */
  async #tables(): Promise<PlannedTable[]> {
    const { plan, target } = this.#parts;
    const tables: PlannedTable[] = [];
    for (const planned of plan.classes) {
      const permissions = await this.#permissionsFor(planned, target);
      this.#permissions.push(...(permissions === null ? [] : planned.permissions.closed));
      tables.push({ planned, permissions });
    }
    return tables;
  }

  async #permissionsFor({ className, permissions }: PlannedClass, { store }: Target): Promise<ClassLevelPermissions | null> {
    const table = store.schema().tables.get(className);
    if (!table) return permissions.permissions;
    if (className === '_Role') {
      // Who writes roles gives rights: here that is for those whom this system lets.
      const { find, get, count } = permissions.permissions;
      this.#permissions.push('who may change _Role stays as it is here');
      return { ...table.permissions, ...(find && { find }), ...(get && { get }), ...(count && { count }) };
    }
    const others = (await store.raw.count(table)) - (this.#seen.there.get(className) ?? 0);
    const isOwn = className === '_User' ? others <= (await this.#administrators(store)) : others === 0;
    if (isOwn) return permissions.permissions;
    this.#permissions.push(`those of ${className} stay as they are here, since it holds records of this system`);
    return null;
  }

  /** How many users of this system administer it: they alone do not keep the permissions of `_User` as they are. */
  async #administrators(store: Target['store']): Promise<number> {
    const roles = tableOf(store.schema(), '_Role');
    const users = roles.fields.get('users');
    const admin = await readFirst<{ objectId: string }>(store, {
      className: '_Role',
      field: 'name',
      value: ADMIN,
      fields: ['objectId'],
    });
    if (!users || !admin) return 0;
    const members = await store.raw.members(users, [admin.objectId, ''], MAX_ADMINISTRATORS);
    return members.filter(([owner]) => owner === admin.objectId).length;
  }

  async #write(tables: readonly PlannedTable[]): Promise<Findings> {
    const { plan, source, target, origin, events } = this.#parts;
    const findings = new Findings();
    const bounds = (): BatchBounds => ({ items: batchSizes[target.company()], size: BATCH_CHARACTERS });
    const rest = async (heldMs: number) => {
      if (target.company() === 'waiting') await pause(heldMs);
    };
    await prepareTables(target.store, tables, this.#seen.passwords > 0);
    const bringer = origin ? new FileBringer(origin, await target.files(), target, findings) : null;
    const total = Math.max(
      1,
      [...this.#seen.records.values()].reduce((sum, count) => sum + count, this.#seen.members),
    );
    let before = 0;
    for (const planned of plan.classes) {
      const { className } = planned;
      const progressed = (done: number) => events.writing(className, before + done, (before + done) / total);
      const mapper = new RecordMapper(planned, findings, origin !== null);
      const write = className === '_Role' ? writeRoles : writeRecords;
      findings.records.set(className, 0);
      await write(target, source.records(planned.source), { className, mapper, findings, bringer, bounds, progressed, rest });
      before += findings.records.get(className) ?? 0;
    }
    for (const [{ className }, field] of relationsOf(plan)) {
      let members = 0;
      await writeMembers(target, { className, field }, source.members(className, field), bounds, (done) => {
        members = done;
        events.writing(`${className}.${field}`, before + done, (before + done) / total);
      });
      findings.members += members;
      before += members;
    }
    for (const planned of plan.classes) this.#indexesLeftOut.push(...(await makeIndexes(target.store, planned)));
    return findings;
  }
}

/** Members of the role that administers a system, that are counted. */
const MAX_ADMINISTRATORS = 1_000;

function* relationsOf({ classes }: MigrationPlan): Generator<[PlannedClass, string]> {
  for (const planned of classes) for (const [name, { type }] of planned.fields) if (type === 'Relation') yield [planned, name];
}
