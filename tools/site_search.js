// Searching a site that was opened from disk: a browser starts no worker for a file, so its script runs in a frame.
if (location.protocol === "file:") {
  window.Worker = class {
    constructor(url) {
      this.waiting = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.postMessage = (data) => this.onmessage?.(new MessageEvent("message", { data }));
      const script = this.frame.contentDocument.createElement("script");
      script.onload = () => {
        this.loaded = true;
        this.waiting.splice(0).forEach((data) => this.deliver(data));
      };
      script.onerror = (error) => this.onerror?.(error);
      script.src = new URL(url, document.baseURI);
      this.frame.contentDocument.body.append(script);
    }

    postMessage(data) {
      if (this.loaded) this.deliver(data);
      else this.waiting.push(data);
    }

    deliver(data) {
      const inside = this.frame.contentWindow;
      setTimeout(() => inside.dispatchEvent(new inside.MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
