import { OperatorError } from '../../../kernel/operator-error.ts';
import type { ParseSource } from './source.ts';

/**
 * Opens the data of a Parse Server. Drivers are imported on demand.
 * @param from `postgres://…`, `mongodb://…`, or a directory of dumps
 * @throws OperatorError if it cannot be reached or contains no such data
 */
export async function openParseSource(from: string): Promise<ParseSource> {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(from)?.[1]?.toLowerCase();
  switch (scheme) {
    case 'postgres':
    case 'postgresql':
      return (await import('./postgres.ts')).PostgresSource.open(from);
    case 'mongodb':
    case 'mongodb+srv':
      return (await import('./mongodb.ts')).MongoSource.open(from);
    case undefined:
      return (await import('./dump.ts')).DumpSource.open(from);
    default:
      throw new OperatorError('--from: this is neither postgres://…, mongodb://… nor a directory');
  }
}
