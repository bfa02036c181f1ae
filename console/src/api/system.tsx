import { createContext, type ReactNode, use, useMemo } from 'react';
import type { FieldModel, Model, TableModel } from '../../../src/console/protocol/protocol.ts';
import { type Paths, pathsOf } from '../model/address.ts';
import { type Format, formatOf } from '../model/format.ts';
import { fieldLabel, tableLabel } from '../model/labels.ts';
import { settings } from '../settings.ts';
import { locale, words } from '../words/index.ts';

/** The system of the page. */
export interface System {
  readonly appId: string;
  readonly model: Model;
  readonly tables: ReadonlyMap<string, TableModel>;
  readonly paths: Paths;
  readonly format: Format;
  /** Returns the label of a table, also of one that the user may not see. */
  labelOf(table: string): string;
  fieldLabelOf(table: string, field: string): string;
  field(table: string, field: string): FieldModel | undefined;
}

const SystemContext = createContext<System | null>(null);

/** Labels of the system fields, which every table has. */
export const systemFields: Readonly<Record<string, string>> = {
  objectId: words.record.id,
  createdAt: words.record.createdAt,
  updatedAt: words.record.updatedAt,
  createdBy: words.record.createdBy,
  updatedBy: words.record.updatedBy,
  ACL: words.record.access,
};

export function SystemProvider({ appId, model, children }: { appId: string; model: Model; children: ReactNode }) {
  const system = useMemo(() => systemOf(appId, model), [appId, model]);
  return <SystemContext value={system}>{children}</SystemContext>;
}

/** Returns the system of the page; valid only below `SystemProvider`. */
export function useSystem(): System {
  const system = use(SystemContext);
  if (!system) throw new Error('no system');
  return system;
}

function systemOf(appId: string, model: Model): System {
  const tables = new Map(model.tables.map((table) => [table.name, table]));
  const fields = new Map(model.tables.map((table) => [table.name, new Map(table.fields.map((field) => [field.name, field]))]));
  const field = (table: string, name: string) => fields.get(table)?.get(name);
  return {
    appId,
    model,
    tables,
    paths: pathsOf(settings.root, appId),
    format: formatOf(locale, model.timeZone, words.time.justNow),
    labelOf: (name) => tableLabel(tables.get(name) ?? { name }),
    fieldLabelOf: (table, name) => fieldLabel(field(table, name) ?? { name, type: 'String' }, systemFields),
    field,
  };
}
