import { Component, type ComponentType, lazy, type ReactNode, useState } from 'react';
import { noteMissingPart } from '../api/client.ts';
import { words } from '../words/index.ts';
import { MessagePage } from './states.tsx';

/** A part of the program that could not be loaded. */
class MissingPart extends Error {}

/** A page of which the program loads its part when it is first shown, or before. */
export interface LazyPage<P extends object> {
  (props: P): ReactNode;
  /** Loads it now. Never rejects: a part that is missing is told of where it is shown. */
  preload(): Promise<void>;
}

/** A page that is loaded when it is first shown. Where that fails, the whole page asks to be loaded again. */
export function lazyPage<P extends object>(load: () => Promise<ComponentType<P>>): LazyPage<P> {
  let loaded: ComponentType<P> | undefined;
  const Lazy = lazy(async () => {
    try {
      return { default: await load() };
    } catch (error) {
      noteMissingPart();
      throw new MissingPart(String(error));
    }
  });
  const Page = (props: P) => {
    // What stands in place of a page that is not here yet stays for 300 ms at least: React has it so.
    const [Shown] = useState<ComponentType<P>>(() => loaded ?? Lazy);
    return <Shown {...props} />;
  };
  const preload = async () => {
    loaded ??= await load().catch(() => undefined);
  };
  return Object.assign(Page, { preload });
}

interface Props {
  readonly children: ReactNode;
}

/** Holds up what fails below it; another page (`key`) is tried anew. */
export class Boundary extends Component<Props, { error: unknown }> {
  override state = { error: null as unknown };

  static getDerivedStateFromError(error: unknown) {
    return { error };
  }

  override render() {
    const { error } = this.state;
    if (error === null) return this.props.children;
    const isMissing = error instanceof MissingPart;
    return (
      <MessagePage
        title={isMissing ? words.errors.chunkTitle : words.errors.brokenTitle}
        text={isMissing ? words.errors.chunkText : words.errors.brokenText}
      >
        <button type="button" className="button button-main" onClick={() => location.reload()}>
          {words.shell.reload}
        </button>
      </MessagePage>
    );
  }
}
