import { isJsonObject, type JsonObject, type JsonValue, own } from '../../kernel/json.ts';
import { badArguments } from '../refusals.ts';
import { cutText } from '../wire/short-text.ts';
import { type ComponentPlace, type Components, childrenOf, everyComponent, findComponent, idOf, sizeOf } from './components.ts';
import { checkUrls, newComponent } from './new-component.ts';
import type { Operation } from './operations.ts';

/**
 * Applies an operation to a page's components, in place.
 * @returns a short description of the change
 * @throws invalidArguments (107) if it cannot be applied
 */
export function applyOperation(roots: Components, operation: Operation, place: string): JsonObject {
  switch (operation.op) {
    case 'add': {
      const taken = new Set([...everyComponent(roots)].map(({ component }) => idOf(component)).filter((id) => id !== undefined));
      const list = listIn(roots, operation.parent, place);
      const component = newComponent(operation.component, `${place}.component`, taken);
      list.splice(indexIn(list, operation.index, place), 0, component);
      return { op: 'add', path: pathOf(roots, component) };
    }
    case 'change':
      return change(requireComponent(roots, operation.path, place), operation.set, place);
    case 'move':
      return move(roots, operation, place);
    case 'remove': {
      const { component, list, index, path } = requireComponent(roots, operation.path, place);
      list.splice(index, 1);
      return { op: 'remove', path, components: sizeOf([component]).count };
    }
  }
}

function change({ component, path }: ComponentPlace, set: JsonObject, place: string): JsonObject {
  if (!isJsonObject(component)) return badArguments(`${place}: ${path} is no component with keys`);
  checkUrls(set, `${place}.set`);
  if (Object.hasOwn(set, 'type') && (typeof set.type !== 'string' || set.type === ''))
    badArguments(`${place}.set.type must be a text`);
  const changes: [string, JsonValue][] = [];
  for (const [key, value] of Object.entries(set)) {
    changes.push([key, [brief(own(component, key) ?? null), brief(value)]]);
    if (value === null) delete component[key];
    else Object.defineProperty(component, key, { value, enumerable: true, configurable: true, writable: true });
  }
  return { op: 'change', path, set: Object.fromEntries(changes) };
}

function move(roots: Components, { path: sent, parent, index }: Extract<Operation, { op: 'move' }>, place: string): JsonObject {
  const from = requireComponent(roots, sent, place);
  const { component, path } = from;
  // Resolved before the component is removed: paths may contain indexes.
  const list = parent === undefined ? from.list : listIn(roots, parent, place);
  if (list !== from.list && isInside(component, list)) badArguments(`${place}: ${path} cannot be moved into itself`);
  from.list.splice(from.index, 1);
  list.splice(indexIn(list, index, place), 0, component);
  return { op: 'move', from: path, path: pathOf(roots, component) };
}

const isInside = (component: JsonValue, list: Components): boolean =>
  childrenOf(component) === list || childrenOf(component).some((child) => isInside(child, list));

const requireComponent = (roots: Components, path: string, place: string): ComponentPlace =>
  findComponent(roots, path) ??
  badArguments(`${place}: the page has no component ${path.slice(0, 200)}`, { next: 'Get-Site-Page' });

/** Returns the list to insert components into; creates it if the parent has none. */
function listIn(roots: Components, parent: string, place: string): Components {
  if (parent === '') return roots;
  const { component, path } = requireComponent(roots, parent, place);
  if (!isJsonObject(component)) return badArguments(`${place}: ${path} cannot have children`);
  const children = own(component, 'children');
  if (Array.isArray(children)) return children;
  if (children !== undefined && children !== null) badArguments(`${place}: the children of ${path} are no list`);
  const created: Components = [];
  component.children = created;
  return created;
}

const indexIn = (list: Components, index: number | undefined, place: string): number => {
  if (index !== undefined && index > list.length) badArguments(`${place}.index must be at most ${list.length}`);
  return index ?? list.length;
};

const pathOf = (roots: Components, component: JsonValue): string =>
  [...everyComponent(roots)].find((one) => one.component === component)?.path ?? '';

/** Shortens a value for the description of a change. */
const brief = (value: JsonValue): JsonValue => {
  const text = JSON.stringify(value);
  return text.length <= 300 ? value : typeof value === 'string' ? cutText(value, 200) : cutText(text, 200);
};
