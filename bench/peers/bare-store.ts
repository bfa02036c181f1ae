import { randomInt } from 'node:crypto';
import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite';
import { GroupCommit } from './group-commit.ts';

const columns = [
  'Name',
  'PhoneNumber',
  'Email',
  'City',
  'Comment',
  'Amount',
  'Score',
  'Quantity',
  'Active',
  'DueDate',
  'OwnerId',
  'Tags',
];
const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

type Fields = Record<string, unknown>;

/** One table in SQLite as hand-written by a competent engineer: prepared statements, writes of one turn in one commit, no checks. */
export class BareStore {
  private readonly database: DatabaseSync;
  private readonly commits: GroupCommit;
  private readonly insertOne: StatementSync;
  private readonly selectOne: StatementSync;
  private readonly selectPage: StatementSync;
  private readonly countCity: StatementSync;
  private readonly updates = new Map<string, StatementSync>();

  constructor(file: string) {
    this.database = new DatabaseSync(file);
    this.database.exec(`
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE bench (
        objectId TEXT PRIMARY KEY, createdAt TEXT NOT NULL, updatedAt TEXT NOT NULL,
        Name TEXT, PhoneNumber TEXT, Email TEXT, City TEXT, Comment TEXT, Amount REAL, Score REAL, Quantity REAL,
        Active INTEGER, DueDate TEXT, OwnerId TEXT, Tags TEXT
      );
      CREATE INDEX byAmount ON bench (Amount);
      CREATE INDEX byCity ON bench (City);
      CREATE INDEX byOwner ON bench (OwnerId);
    `);
    this.commits = new GroupCommit(this.database);
    const names = ['objectId', 'createdAt', 'updatedAt', ...columns];
    const prepare = (sql: string) => this.database.prepare(sql);
    this.insertOne = prepare(`INSERT INTO bench (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`);
    this.selectOne = prepare('SELECT * FROM bench WHERE objectId = ?');
    this.selectPage = prepare('SELECT * FROM bench WHERE Amount >= ? ORDER BY Amount, objectId LIMIT ?');
    this.countCity = prepare('SELECT count(*) AS n FROM bench WHERE City = ?');
  }

  create(fields: Fields): { objectId: string; createdAt: string } {
    const objectId = newId();
    const now = new Date().toISOString();
    this.insertOne.run(objectId, now, now, ...columns.map((name) => toColumn(name, fields[name])));
    return { objectId, createdAt: now };
  }

  update(objectId: string, fields: Fields): { objectId: string; updatedAt: string } {
    const names = Object.keys(fields).filter((name) => columns.includes(name));
    const shape = names.join();
    let statement = this.updates.get(shape);
    if (!statement) {
      statement = this.database.prepare(
        `UPDATE bench SET updatedAt = ?, ${names.map((name) => `${name} = ?`).join(', ')} WHERE objectId = ?`,
      );
      this.updates.set(shape, statement);
    }
    const updatedAt = new Date().toISOString();
    statement.run(updatedAt, ...names.map((name) => toColumn(name, fields[name])), objectId);
    return { objectId, updatedAt };
  }

  read(objectId: string): Fields | undefined {
    const row = this.selectOne.get(objectId);
    return row && toRecord(row);
  }

  page(minAmount: number, limit: number): Fields[] {
    return this.selectPage.all(minAmount, limit).map(toRecord);
  }

  count(city: string): number {
    return Number(this.countCity.get(city)?.n);
  }

  /** Executes writes in the next commit, all of them or none. */
  commit<T>(work: () => T): Promise<T> {
    return this.commits.run(work);
  }
}

function newId(): string {
  let id = '';
  for (let length = 0; length < 10; length++) id += letters[randomInt(letters.length)];
  return id;
}

function toColumn(name: string, value: unknown): SQLInputValue {
  if (value === undefined || value === null) return null;
  if (name === 'Active') return value ? 1 : 0;
  if (name === 'DueDate') return (value as { iso: string }).iso;
  if (name === 'OwnerId') return (value as { objectId: string }).objectId;
  if (name === 'Tags') return JSON.stringify(value);
  return value as SQLInputValue;
}

/** The wire form of the service, so that both sides send the same bytes. */
function toRecord(row: Record<string, unknown>): Fields {
  return {
    ...row,
    Active: row.Active === 1,
    DueDate: { __type: 'Date', iso: row.DueDate },
    OwnerId: { __type: 'Pointer', className: '_User', objectId: row.OwnerId },
    Tags: JSON.parse(String(row.Tags)),
  };
}
