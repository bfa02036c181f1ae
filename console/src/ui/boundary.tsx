import { Component, type ComponentType, lazy, type ReactNode, useState } from 'react';
import { noteMissingPart } from '../api/client.ts';
import { words } from '../words/index.ts';
import { MessagePage } from './states.tsx';

/** A part of the program that could not be loaded. */
class MissingPart extends Error {}

/** A page whose code is loaded when it is first shown, or earlier. */
export interface LazyPage<P extends object> {
  (props: P): ReactNode;
  /** Loads the code now. Never rejects: a missing part is reported where the page is shown. */
  preload(): Promise<void>;
}

/** Returns a page that is loaded when it is first shown. If that fails, the whole page asks to be reloaded. */
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
    // Skips `lazy` if the code is loaded: React shows the fallback of `lazy` for at least 300 ms.
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

/** Catches errors of the components below it; another page (`key`) starts without the error. */
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
