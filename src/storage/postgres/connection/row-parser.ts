import type { Duplex } from 'node:stream';
import type pg from 'pg';
import { Parser } from 'pg-protocol/dist/parser.js';

/*
 * The driver decodes each value of a row by a call out of JavaScript, a seventh of the time of a list. Here a row is decoded once, and values of
 * ASCII characters are parts of its text. This replaces the driver's parser in the connection, so both versions are pinned
 * (docs/adr/0007-postgresql-driver.md).
 */

/** Type of the message of a row. */
const DATA_ROW = 'D'.charCodeAt(0);
/** Maximum length of a row that is decoded once: a value that is kept keeps the text of its row. */
const MAX_ROW_BYTES = 4096;
/** Length of a value that is NULL. */
const NULL = -1;

interface Message {
  readonly name: string;
}

/** The parser with the member that subclasses of the driver's own use. */
const OpenParser = Parser as unknown as new () => {
  parse(chunk: Buffer, take: (message: Message) => void): void;
  handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message;
};

class RowParser extends OpenParser {
  override handlePacket(offset: number, code: number, length: number, bytes: Buffer): Message {
    if (code !== DATA_ROW || length > MAX_ROW_BYTES) return super.handlePacket(offset, code, length, bytes);
    const row = { name: 'dataRow', length, fields: fieldsOf(bytes, offset, length) };
    return row;
  }
}

/** Makes a connection that is not open yet parse rows here. */
export function parseRows({ connection }: pg.Client): void {
  const attachable = connection as pg.Connection & { attachListeners(stream: Duplex): void };
  attachable.attachListeners = (stream) => {
    const parser = new RowParser();
    const take = (message: Message) => connection.emit(message.name === 'error' ? 'errorMessage' : message.name, message);
    stream.on('data', (chunk: Buffer) => parser.parse(chunk, take));
  };
}

/**
 * Returns the values of a row as texts.
 * @param start offset of the number of values, a 16-bit integer; each value follows its length, a 32-bit integer
 * @param length of the message, including its own four bytes before `start`
 */
export function fieldsOf(bytes: Buffer, start: number, length: number): (string | null)[] {
  const text = bytes.toString('latin1', start, start + length - 4);
  const fields = new Array<string | null>(bytes.readUInt16BE(start));
  let at = start + 2;
  for (let n = 0; n < fields.length; n++) {
    const size = bytes.readInt32BE(at);
    at += 4;
    if (size === NULL) {
      fields[n] = null;
      continue;
    }
    const end = at + size;
    fields[n] = isAscii(bytes, at, end) ? text.slice(at - start, end - start) : bytes.toString('utf8', at, end);
    at = end;
  }
  return fields;
}

function isAscii(bytes: Buffer, from: number, to: number): boolean {
  let all = 0;
  for (let at = from; at < to; at++) all |= bytes[at] as number;
  return all < 0x80;
}
