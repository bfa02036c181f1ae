import { automation } from './automation.ts';
import { crm } from './crm.ts';
import { documents } from './documents.ts';
import { files } from './files.ts';
import { history } from './history.ts';
import { records } from './records.ts';
import { reports } from './reports.ts';
import type { Sample } from './sample.ts';
import { schema } from './schema.ts';
import { site } from './site.ts';
import { system } from './system.ts';
import { users } from './users.ts';
import { work } from './work.ts';

/** One sample call of every tool, by the tool's name. */
export const samples: ReadonlyMap<string, Sample> = new Map(
  [records, crm, work, history, files, users, schema, site, automation, reports, documents, system].flatMap((group) =>
    Object.entries(group),
  ),
);
