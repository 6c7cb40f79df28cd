var S,ht,yn,V,Ae,ve,mt,$e,$t,Ne,Me,kn,re=Symbol.for("pv"),ye={},ke=[],wn=/^m(i|n|o|s|text|space)$/,je=Array.isArray,Le=ke.slice,X=Object.assign;function Y(e){e&&e.parentNode&&e.remove()}function gt(e,t,n){var s,a,o,r={},i=arguments.length;for(o in t)o=="key"?s=t[o]:o=="ref"&&typeof e!="function"?a=t[o]:r[o]=t[o];return i>2&&(r.children=i>3?Le.call(arguments,2):n),se(e,r,s,a,null)}function se(e,t,n,s,a){var o={type:e,props:t,key:n,ref:s,__k:null,__:null,__b:0,__e:null,__c:null,constructor:re,__v:a||++ht,__i:-1,__u:0};return!a&&S.vnode&&S.vnode(o),o}function we(e){return e.children}function ge(e,t){this.props=e,this.context=t,this.__g=0}function G(e,t){if(t==null)return e.__&&G(e.__,e.__i+1);for(var n;t<e.__k.length;t++)if((n=e.__k[t])&&n.__e)return n.__e;return typeof e.type!="function"||e.props.__P?null:G(e)}function xn(e){var t,n=e.__v,s=n.__e,a=[],o=[],r=e.__P;r&&((t=X({constructor:re},n)).__v=n.__v+1,S.vnode&&S.vnode(t),Re(r,t,n,e.__n,r.namespaceURI,32&n.__u?[s]:null,a,s||G(n),32&n.__u,o),t.__v=n.__v,t.__.__k[t.__i]=t,xt(a,t,o),n.__=n.__e=null,t.__e!=s&&bt(t))}function bt(e){if((e=e.__)&&e.__c&&!e.props.__P)return e.__e=null,e.__k.some(function(t){return t&&(e.__e=t.__e)}),bt(e)}function dt(e){(8&e.__g||(e.__g|=8,V.push(e),ve++))&&Ae==S.debounceRendering||((Ae=S.debounceRendering)||queueMicrotask)(vt)}function vt(){try{for(var e,t=1;V.length;)V.length>t&&V.sort(mt),e=V.shift(),t=V.length,8&e.__g&&xn(e)}finally{(ve=V.length)&&(Ae||queueMicrotask)(vt)}}function yt(e,t,n,s,a,o,r,i,u,p,l){var f,_,c,h,$,g,b=s.__k||ke,m=t.length;for(u=Sn(n,t,b,u,m),f=0;f<m;f++)(c=n.__k[f])!=null&&(_=~c.__i&&b[c.__i]||ye,c.__i=f,g=Re(e,c,_,a,o,r,i,u,p,l),h=c.__e,(_.ref!=c.ref||8&_.__u)&&(_.ref&&Ie(_.ref,null,c,_),c.ref&&l.push(c.ref,c.__c||h,c)),$=$||h,4&c.__u?(u=kt(c,u,e,!_.__v),_.__e&&(_.__e=null)):typeof c.type=="function"&&g!==void 0?u=g:h&&(u=h.nextSibling),c.__u&=-21);return n.__e=$,u}function Sn(e,t,n,s,a){var o,r,i,u,p,l,f,_,c,h=n.length,$=h,g=0,b=0,m=e.__k=Array(a);for(o=0;o<a;o++)(r=t[o])!=null&&typeof r!="boolean"&&typeof r!="function"?(typeof r!="object"||r.constructor===String?r=m[o]=se(null,r):je(r)?r=m[o]=se(we,{children:r}):r.constructor===re&&r.__b?r=m[o]=se(r.type,r.props,r.key,r.ref,r.__v):m[o]=r,u=o+g,r.__=e,r.__b=e.__b+1,i=null,~(p=r.__i=Cn(r,n,u,$))&&($--,(i=n[p])&&(i.__u|=2)),i&&i.__v?(r.__u|=16,p==u-1?g--:p==u+1?g++:p!=u&&(p>u?g--:g++,b=1)):(~p||(a>h?g--:a<h&&g++),typeof r.type!="function"&&(r.__u|=4))):m[o]=null;if(b){for(l=[],f=[],o=0;o<a;o++)if((r=m[o])&&16&r.__u){for(g=0,_=l.length;g<_;)l[c=g+_>>1]<r.__i?g=c+1:_=c;l[g]=r.__i,f[o]=g+1}for(g=l.length;o--;)f[o]&&(f[o]==g?g--:m[o].__u|=4)}if($)for(o=0;o<h;o++)!(i=n[o])||2&i.__u||(i.__e==s&&(s=G(i)),Ue(i,i));return s}function kt(e,t,n,s){var a,o,r,i;if(typeof e.type=="function"){if(e.props.__P)return t;if(a=e.__k)for(o=0;o<a.length;o++)a[o]&&(a[o].__=e,t=kt(a[o],t,n,!1));return t}for(t&&!t.parentNode&&(t=G(e))&&!t.parentNode&&(t=null),r=e.__e,i=t;i&&i.nodeType==8;)i=i.nextSibling;for(r!=i&&(!s&&n.moveBefore&&r.parentNode?n.moveBefore(r,t):n.insertBefore(r,t||null)),t=r;(t=t&&t.nextSibling)&&t.nodeType==8&&!t.data.startsWith("$s"););return t}function Cn(e,t,n,s){var a,o=e.key,r=e.type,i=t[n],u=i&&!(2&i.__u);if(i===null&&o==null||u&&o==i.key&&r==i.type)return n;if(s>(u?1:0)){for(a=n-1;a>=0;a--)if((i=t[a])&&!(2&i.__u)&&o==i.key&&r==i.type)return a;for(a=n+1;a<t.length;a++)if((i=t[a])&&!(2&i.__u)&&o==i.key&&r==i.type)return a}return-1}function ft(e,t,n){n==null&&(n=""),t[0]=="-"?e.setProperty(t,n):e[t]=n}function me(e,t,n,s,a){var o,r;if(t=="style")if(typeof n=="string")e.style.cssText=n;else{if(typeof s=="string"&&(e.style.cssText=s=""),s)for(t in s)n&&t in n||ft(e.style,t);if(n)for(t in n)s&&n[t]==s[t]||ft(e.style,t,n[t])}else if(t[0]=="o"&&t[1]=="n")typeof n!="function"&&(n=null),typeof s!="function"&&(s=null),(e.__e||(e.__e={}))[t]=n,n&&s||(r=Me[t]||(Me[t]=Tn(t)),(e.__a||(e.__a={}))[t]=Ne,o=t!=(t=t.replace($t,"$1")),(t=t.slice(2))[0]<"a"&&(t=t.toLowerCase()),n?e.addEventListener(t,r,o):e.removeEventListener(t,r,o));else{if(a=="http://www.w3.org/2000/svg")t=t.replace(/xlink(H|:h)/,"h").replace(/sName$/,"s");else if(t!="width"&&t!="height"&&t!="href"&&t!="list"&&t!="form"&&t!="tabIndex"&&t!="download"&&t!="rowSpan"&&t!="colSpan"&&t!="role"&&t!="popover"&&t in e)try{return void(e[t]=n??"")}catch{}if(typeof n=="function")return;n==null||n===!1&&t[4]!="-"?e.removeAttribute(t):e.setAttribute(t,t=="popover"&&n==1?"":n)}}function Tn(e){return function(t){var n=this.__e;if(n){if(n=n[e],t[$e]==null)t[$e]=Ne++;else if(t[$e]<this.__a[e])return;return n(S.event?S.event(t):t)}}}function Re(e,t,n,s,a,o,r,i,u,p){var l,f,_,c,h,$,g,b,m,v,k,T,C,A,x,z,I,H,j=t.type;if(t.constructor!==re)return null;128&n.__u&&(u=32&n.__u,l=n.__c.__z)&&(t.__u|=u,f=o=[],l.nodeType==8?i=be(l,o):o.push(l),i=o[0]||i),(l=S.__b)&&l(t);e:if(typeof j=="function"){_=r.length;try{if(b=t.props,m=(l=j.prototype)&&l.render,v=(l=j.contextType)&&s[l.__c],k=l?v?v.props.value:l.__:s,(c=n.__c)?(t.__c=c,2&c.__g&&(c.__g|=1)):(m?t.__c=c=new j(b,k):(t.__c=c=new ge(b,k),c.constructor=j,c.render=Pn),v&&v.sub(c),c.state||(c.state={}),c.__n=s,c.__g|=8,c.__h=[],c.__k=[]),m&&(c.__s||(c.__s=c.state),j.getDerivedStateFromProps&&(c.__s==c.state&&(c.__s=X({},c.__s)),X(c.__s,j.getDerivedStateFromProps(b,c.__s)))),h=c.props,$=c.state,c.__v=t,n.__c){if(b!==h&&m&&!j.getDerivedStateFromProps&&c.componentWillReceiveProps&&c.componentWillReceiveProps(b,k),t.__v==n.__v&&!(8&c.__g)||!(4&c.__g)&&c.shouldComponentUpdate&&c.shouldComponentUpdate(b,c.__s,k)===!1){t.__v!=n.__v&&(c.props=b,c.state=c.__s,c.__g&=-9),t.__e=n.__e,t.__k=n.__k,t.__k.some(function(M){M&&(M.__=t)}),ke.push.apply(c.__h,c.__k),c.__k=[],c.__h.length&&r.push(c),i=G(n);break e}c.componentWillUpdate&&c.componentWillUpdate(b,c.__s,k),m&&c.componentDidUpdate&&c.__h.push(function(){c.componentDidUpdate(h,$,g)})}else m&&!j.getDerivedStateFromProps&&c.componentWillMount&&c.componentWillMount(),m&&c.componentDidMount&&c.__h.push(c.componentDidMount);c.context=k,c.props=b,c.__P=e,c.__g&=-5,T=S.__r,C=m?25:0;do c.__g&=-9,T&&T(t),l=c.render(c.props,c.state=c.__s,c.context);while(8&c.__g&&++C<25);m&&(ke.push.apply(c.__h,c.__k),c.__k=[]),c.state=c.__s,c.getChildContext&&(s=X({},s,c.getChildContext())),m&&n.__c&&c.getSnapshotBeforeUpdate&&(g=c.getSnapshotBeforeUpdate(h,$)),A=l&&l.type===we&&l.key==null?l.props.children:l,b.__P&&(l=i,a=(e=b.__P).namespaceURI,u=o=null,n.props&&n.props.__P!=e&&(n.__k.some(function(M){M&&Ue(M,M)}),n.__k=null),i=n.__k?G(n,0):null),i=yt(e,je(A)?A:[A],t,n,s,a,o,r,i,u,p),b.__P&&(t.__e=null,i=l),t.__u&=-161,f&&f.some(Y),c.__h.length&&r.push(c),1&c.__g&&(c.__g&=-4)}catch(M){if(r.length=_,t.__v=null,u||o)if(M&&M.then){if(t.__u|=128|u,o){for(~(I=o.indexOf(i||void 0))||(I=o.length);(H=o[I-1])&&H.nodeType==8;)I--;for(;I<o.length;I++)if(H=o[I])if(o[I]=null,x){if(H==z)break}else{if(H.nodeType!=8)break;H.data.startsWith("$s")&&(z=be(x=H))}}if(!x){for(;i&&i.nodeType==8&&i.nextSibling;)i=i.nextSibling;x=i}(l=be(x=t.__c.__z||(t.__c.__z=x)))?(t.__e=x,i=l):t.__e=i,i=i&&i.nextSibling}else o&&o.some(Y);else t.__e=n.__e;t.__k||(t.__k=n.__k||[]),M&&M.then||wt(t),S.__e(M,t,n)}}else i=t.__e=En(n.__e,t,n,s,a,o,r,u,p,e);return(l=S.diffed)&&l(t),i}function be(e,t){if(e&&e.nodeType==8&&e.data.startsWith("$s"))for(var n=1;e=e.nextSibling;){if(e.nodeType==8){if(e.data.startsWith("$s"))n++;else if(e.data.startsWith("/$s")&&!--n)return e}t&&t.push(e)}}function wt(e){e&&(e.__c&&(e.__c.__g|=4),e.__k&&e.__k.some(wt))}function xt(e,t,n){for(var s=0;s<n.length;)Ie(n[s++],n[s++],n[s++]);S.__c&&S.__c(t,e),e.some(function(a){try{e=a.__h,a.__h=[],e.some(function(o){o.call(a)})}catch(o){S.__e(o,a.__v)}})}function En(e,t,n,s,a,o,r,i,u,p){var l,f,_,c,h,$,g,b,m=n.props||ye,v=t.props,k=t.type;if(k=="svg"?a="http://www.w3.org/2000/svg":k=="math"?a="http://www.w3.org/1998/Math/MathML":a||(a="http://www.w3.org/1999/xhtml"),o){for(l=0;l<o.length;l++)if((h=o[l])&&(k?h.localName==k:h.nodeType==3)){e=h,o[l]=null;break}}if(!e){if(b=p.ownerDocument||document,!k)return b.createTextNode(v);e=b.createElementNS(a,k,v.is?v:p),i&&(S.__m&&S.__m(t,o),i=!1),o=null}if(k){if(p=k=="template"&&e.content||e,o=k=="textarea"&&v.defaultValue!=null?null:o&&Le.call(p.childNodes),!i&&o)for(m={},l=0;l<e.attributes.length;l++)m[(h=e.attributes[l]).name]=h.value;for(l in m)h=m[l],l=="dangerouslySetInnerHTML"?_=h:l=="children"||l in v||l=="value"&&"defaultValue"in v||l=="checked"&&"defaultChecked"in v||me(e,l,null,h,a);for(l in v)h=v[l],l=="children"?c=h:l=="dangerouslySetInnerHTML"?f=h:l=="value"?$=h:l=="checked"?g=h:i&&typeof h!="function"||m[l]===h||me(e,l,h,m[l],a);f?(i||_&&(f.__html==_.__html||f.__html==e.innerHTML)||(e.innerHTML=f.__html),t.__k=[]):(_&&(e.textContent=""),(k=="foreignObject"||a=="http://www.w3.org/1998/Math/MathML"&&wn.test(k))&&(a="http://www.w3.org/1999/xhtml"),yt(p,je(c)?c:[c],t,n,s,a,o,r,o?o[0]:n.__k&&G(n,0),i,u),o&&o.some(Y)),i&&k!="textarea"||(l="value",k=="progress"&&$==null?e.removeAttribute(l):$==null||$===e[l]&&(k!="progress"||$)||me(e,l,$,m[l],a),l="checked",g!=null&&g!=e[l]&&me(e,l,g,m[l],a))}else m===v||i&&e.data==v||(e.data=v);return e}function Ie(e,t,n,s){try{typeof e=="function"?t?t.__x=e(t)||1:s&&(s=s.__c||s.__e)&&(t=s.__x)&&(s.__x=null,typeof t=="function"?t():e(null)):e.current=t}catch(a){S.__e(a,n)}}function Ue(e,t,n){var s,a,o,r;if(S.unmount&&S.unmount(e),!(s=e.ref)||s.current&&s.current!=e.__e||Ie(s,null,t,e),s=e.__c){if(s.componentWillUnmount)try{s.componentWillUnmount()}catch(i){S.__e(i,t)}s.__P=s.__n=null}if(s=e.__k)for(r=0;r<s.length;r++)s[r]&&Ue(s[r],t,typeof e.type!="function"||n&&!e.props.__P);!n&&(s=e.__c)&&(s=s.__z)&&(a=be(s,o=[]))&&(s==e.__e&&o.some(Y),Y(a),Y(s)),n||Y(e.__e),e.__e=e.__c=e.__=null}function Pn(e,t,n){return this.constructor(e,n)}function St(e,t){var n,s,a,o;S.__&&S.__(e,t),t.nodeType==9&&(t=t.documentElement),s=(n=e&&32&e.__u)?null:t.__k,t.__k=se(we,{children:[e]}),a=[],o=[],Re(t,t.__k,s||ye,ye,t.namespaceURI,s?null:t.firstChild?Le.call(t.childNodes):null,a,s?s.__e:t.firstChild,n,o),xt(a,t.__k,o),t.__k.props.children=null}S={__e:function(e,t,n,s){for(var a,o,r;t=t.__;)if((a=t.__c)&&!(1&a.__g)){a.__g|=4;try{if((r=(o=a.constructor)&&o.getDerivedStateFromError)&&a.setState(o.getDerivedStateFromError(e)),a.componentDidCatch&&(a.componentDidCatch(e,s||{}),r=1),r&&8&a.__g)return void(a.__g|=2)}catch(i){e=i}}throw ve=0,e}},ht=0,yn=function(e){return e!=null&&e.constructor===re},ge.prototype.setState=function(e,t){var n=this.__s;n&&n!=this.state||(n=this.__s=X({},this.state)),typeof e=="function"&&(e=e(X({},n),this.props)),e&&(X(n,e),this.__v&&(t&&this.__k.push(t),dt(this)))},ge.prototype.forceUpdate=function(e){this.__v&&(this.__g|=4,e&&this.__h.push(e),dt(this))},ge.prototype.render=we,V=[],ve=0,mt=function(e,t){return e.__v.__b-t.__v.__b},$e=Symbol(),$t=/(PointerCapture)$|Capture$/i,Ne=0,Me={},kn=0;var ie,D,Fe,Ct,He=Object.is,le=0,Nt=[],We=[],P=S,Tt=P.__b,Et=P.__r,Pt=P.diffed,Ot=P.__c,Dt=P.unmount,qt=P.__;function Ke(e,t){P.__h&&P.__h(D,e,le||t),le=0;var n=D.__H||(D.__H={__:[],__h:[]});return e>=n.__.length&&n.__.push({}),n.__[e]}function w(e){return le=1,On(Rt,e)}function On(e,t,n){var s=Ke(ie++,2);if(s.t=e,!s.__c&&(s.__=[n?n(t):Rt(void 0,t),function(o){var r=(s.__N||s.__)[0],i=s.t(r,o);He(r,i)||(s.__N=[i,s.__[1]],s.__c.setState({}))}],s.__c=D,!D.__f)){D.__f=!0;var a=D.shouldComponentUpdate;D.shouldComponentUpdate=function(o,r,i){var u=this.__H;if(!u)return!0;var p=!1,l=this.props!=o;if(u.__.some(function(_){_.__N&&(p=!0,He(_.__[0],_.__N[0])||(l=!0))}),a){var f=a.call(this,o,r,i);return p?f||l:f}return!p||l}}return s.__}function N(e,t){var n=Ke(ie++,3);!P.__s&&Lt(n.__H,t)&&(n.__P=!0,n.__=e,n.u=t,D.__H.__h.push(n))}function R(e){return le=5,jt(function(){return{current:e}},[])}function jt(e,t){var n=Ke(ie++,7);return Lt(n.__H,t)&&(n.__=e(),n.__H=t),n.__}function Ve(e,t){return le=8,jt(function(){return e},t)}function Dn(){var e;do{for(;e=We.shift();)try{ae(e)}catch(n){P.__e(n,{__:(e=e.__P)&&e.__v})}for(;e=Nt.shift();){var t=e.__H;if(e.__P&&t)try{t.__h.some(ae),t.__h.some(Be),t.__h=[]}catch(n){t.__h=[],P.__e(n,e.__v)}}}while(We.length)}P.__b=function(e){D=null,Tt&&Tt(e)},P.__=function(e,t){e&&t.__k&&t.__k.__m&&(e.__m=t.__k.__m),qt&&qt(e,t)},P.__r=function(e){Et&&Et(e),ie=0;var t=(D=e.__c).__H;t&&(Fe==D?D.__h=[]:(t.__h.some(ae),t.__h.some(Be),ie=0),t.__h=[],t.__.some(function(n){n.__N&&(n.__=n.__N),n.u=n.__N=void 0})),Fe=D},P.diffed=function(e){Pt&&Pt(e);var t=e.__c;t&&t.__H&&(t.__H.__h.length&&Mt(Nt.push(t)),t.__H.__.some(function(n){n.u&&(n.__H=n.u)})),Fe=D=null},P.__c=function(e,t){t.some(function(n){try{n.__h.some(ae),n.__h=n.__h.filter(function(s){return!s.__||Be(s)})}catch(s){n.__h=[function(){throw s}]}}),Ot&&Ot(e,t)},P.unmount=function(e){Dt&&Dt(e);var t,n,s=e.__c;s&&s.__H&&(s.__H.__.some(function(a){try{if(a.__P&&a.__c){if(n===void 0){for(n=e.__;n&&(!n.__c||!n.__c.__P);)n=n.__;n=n&&n.__c}a.__P=n,Mt(We.push(a))}else ae(a)}catch(o){t=o}}),s.__H=void 0,t&&P.__e(t,s.__v))};var At=typeof requestAnimationFrame=="function";function qn(e){var t,n=function(){clearTimeout(s),At&&cancelAnimationFrame(t),setTimeout(e)},s=setTimeout(n,35);At&&(t=requestAnimationFrame(n))}function Mt(e){e!=1&&Ct==P.requestAnimationFrame||((Ct=P.requestAnimationFrame)||qn)(Dn)}function ae(e){var t=D,n=e.__c;typeof n=="function"&&(e.__c=void 0,n()),D=t}function Be(e){var t=D;e.__c=e.__(),D=t}function Lt(e,t){return!e||e.length!=t.length||t.some(function(n,s){return!He(n,e[s])})}function Rt(e,t){return typeof t=="function"?t(e):t}var Ge="anabranch.key",ce=class extends Error{constructor(t,n){super(n),this.status=t}},It=()=>{};function Ut(e){It=e}var xe={get:()=>sessionStorage.getItem(Ge),set:e=>sessionStorage.setItem(Ge,e),clear:()=>sessionStorage.removeItem(Ge)};async function Z(e,{method:t="GET",body:n,headers:s={},signal:a}={}){let o=xe.get(),r=await fetch(e,{method:t,signal:a,headers:{...n===void 0?{}:{"Content-Type":"application/json"},...o?{Authorization:`Bearer ${o}`}:{},...s},body:n===void 0?void 0:JSON.stringify(n)});if(r.status===401&&It(),!r.ok)throw new ce(r.status,await An(r));return r}async function q(e,t){let n=await Z(e,t);return n.status===204?null:n.json()}var U=(e,t)=>q(e,{method:"POST",body:t});async function An(e){try{let{detail:t}=await e.json();return typeof t=="string"?t:JSON.stringify(t)}catch{return`The server answered ${e.status}.`}}async function*Mn(e){let t=e.body.pipeThrough(new TextDecoderStream).getReader(),n="",s={};try{for(;;){let{done:a,value:o}=await t.read();if(a)return;let r=(n+o).split(/\r?\n/);n=r.pop();for(let i of r){let u=i.indexOf(":");if(i==="")s.data!==void 0&&(yield{...s,data:JSON.parse(s.data)}),s={};else if(u>0){let p=i.slice(0,u),l=i.slice(u+1).replace(/^ /,"");s[p]=p==="data"&&s.data!==void 0?`${s.data}
${l}`:l}}}}finally{t.cancel().catch(()=>{})}}var Nn=8,jn=e=>new Promise(t=>setTimeout(t,e));async function Ft(e,t,n,{onEvent:s,onLost:a,signal:o}){let r=null;for(let i=0;i<Nn;i+=1){try{n??=await Z(`/threads/${e}/runs/${t}/stream`,{signal:o,headers:r===null?{}:{"Last-Event-ID":r}});for await(let p of Mn(n)){if(i=0,r=p.id??r,p.event==="end")return;p.event==="metadata"&&(t=p.data.run_id??t),s(p)}let{status:u}=await q(`/threads/${e}/runs/${t}`,{signal:o});if(u!=="pending"&&u!=="running")return}catch(u){if(o?.aborted||u instanceof ce)throw u}n=null,a(),await jn(Math.min(250*2**i,5e3))}throw new ce(0,"The connection to the server is lost. Reload the page to read on.")}var pe=e=>e.checkpoint?.checkpoint_id??e.checkpoint_id??null,ue=e=>e.parent_checkpoint?.checkpoint_id??null;async function te(e,t){let n=(await U(`/threads/${e}/history`,{limit:1e3,metadata:{source:"input"}})).reverse(),s=new Map(n.map(u=>[pe(u),u])),a=u=>s.has(ue(u))?null:ue(u),o=[],r=t?await Ht(e,t):await Ln(e,n);for(;r;){let u=r.metadata?.run_id,p=n.findLast(_=>_.metadata?.run_id===u);if(!p)break;let l=a(p),f=n.filter(_=>a(_)===l&&(l!==null||i(_)));(r.next??[]).includes("__start__")||o.unshift({run:u,values:r.values,checkpoint:pe(r),base:l??pe(f[0]??p),versions:[...new Set(f.map(_=>_.metadata.run_id))],unfinished:(r.next??[]).length>0,waits:(r.interrupts??[]).length>0}),r=l===null?null:await Ht(e,l)}return o;function i(u){return ue(u)===null||s.has(ue(u))}}var Ht=(e,t)=>q(`/threads/${e}/state/${t}`);async function Ln(e,t){return t.length?q(`/threads/${e}/state`):null}async function Wt(e,t){let n=(await U(`/threads/${e}/history`,{limit:1e3,metadata:{source:"input"}})).reverse();for(;;){let[s]=await U(`/threads/${e}/history`,{limit:1,metadata:{run_id:t}});if(!s)return null;let a=n.findLast(o=>ue(o)===pe(s));if(!a)return pe(s);t=a.metadata.run_id}}function Bt(e,t){let n=[`# ${e}`];for(let{values:s}of t){n.push(`## ${s.original_question}`,s.answer||"*No answer.*");for(let a of Rn(s.citations??[])){let o=a.page?`, page ${a.page}`:"";n.push(`[${a.marker}] ${a.title||a.source}${o} (${a.grade})
> ${a.quote.replace(/\n/g,`
> `)}`)}}return`${n.join(`

`)}
`}function Rn(e){let t=new Map;for(let n of e)t.has(n.marker)||t.set(n.marker,n);return[...t.values()].sort((n,s)=>n.marker-s.marker)}var Vt=function(e,t,n,s){var a;t[0]=0;for(var o=1;o<t.length;o++){var r=t[o++],i=t[o]?(t[0]|=r?1:2,n[t[o++]]):t[++o];r===3?s[0]=i:r===4?s[1]=Object.assign(s[1]||{},i):r===5?(s[1]=s[1]||{})[t[++o]]=i:r===6?s[1][t[++o]]+=i+"":r?(a=e.apply(i,Vt(e,i,n,["",null])),s.push(a),i[0]?t[0]|=2:(t[o-2]=0,t[o]=a)):s.push(i)}return s},Kt=new Map;function Gt(e){var t=Kt.get(this);return t||(t=new Map,Kt.set(this,t)),(t=Vt(this,t.get(e)||(t.set(e,t=(function(n){for(var s,a,o=1,r="",i="",u=[0],p=function(_){o===1&&(_||(r=r.replace(/^\s*\n\s*|\s*\n\s*$/g,"")))?u.push(0,_,r):o===3&&(_||r)?(u.push(3,_,r),o=2):o===2&&r==="..."&&_?u.push(4,_,0):o===2&&r&&!_?u.push(5,0,!0,r):o>=5&&((r||!_&&o===5)&&(u.push(o,0,r,a),o=6),_&&(u.push(o,_,0,a),o=6)),r=""},l=0;l<n.length;l++){l&&(o===1&&p(),p(l));for(var f=0;f<n[l].length;f++)s=n[l][f],o===1?s==="<"?(p(),u=[u],o=3):r+=s:o===4?r==="--"&&s===">"?(o=1,r=""):r=s+r[0]:i?s===i?i="":r+=s:s==='"'||s==="'"?i=s:s===">"?(p(),o=1):o&&(s==="="?(o=5,a=r,r=""):s==="/"&&(o<5||n[l][f+1]===">")?(p(),o===3&&(u=u[0]),o=u,(u=u[0]).push(2,0,o),o=0):s===" "||s==="	"||s===`
`||s==="\r"?(p(),o=2):r+=s),o===3&&r==="!--"&&(o=4,u=u[0])}return p(),u})(e)),t),arguments,[])).length>1?t:t[0]}var d=Gt.bind(gt);var Se=/\[(\d{1,4})\](?!\()/g;var Je="\uE000(\\d+)\\.(\\d+)\uE001",ze=e=>e.replace(/[^\p{L}\p{N}]+/gu,"").toLowerCase();function zt(e,t){let n=e.replaceAll("\uE000","").replaceAll("\uE001",""),s=ze(n.replace(Se," ")),a=0,o=t.map(u=>{let p=ze(u.claim.replace(Se," ")),l=s.indexOf(p,a)>=0?s.indexOf(p,a):s.indexOf(p);return l<0?null:(a=l,l+p.length)}),r=[];return{numbered:n.replace(Se,(u,p,l)=>{let f=ze(n.slice(0,l).replace(Se," ")).length,c=t.map((h,$)=>({each:h,away:Math.abs((o[$]??1/0)-f)})).filter(({each:h})=>h.marker===Number(p)).sort((h,$)=>h.away-$.away);return r.push(c[0]?.each),`\uE000${p}.${r.length-1}\uE001`}),places:r}}var Qe=e=>e.replace(new RegExp(Je,"g"),"[$1]");var Ce=/^\s*(```|~~~)/,Jt=/^(#{1,6})\s+(.*)$/,ne=/^(\s*)([-*+]|\d+[.)])\s+(.*)$/,Ye=/^\s*\|(.+)\|\s*$/,In=/^\s*\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/,Un=new RegExp(String.raw`(\`[^\`\n]+\`)|\*\*([^*\n]+)\*\*|(?<![*\w])\*([^*\n]+)\*(?!\w)|${Je}|!?\[([^\]\n]*)\]\([^)\s]*\)`,"g");function Qt(e,t,n=s=>s){let s=r=>Xe(r,t,n),a=e.split(`
`),o=[];for(let r=0;r<a.length;){let i=r,u=f=>{for(;r<a.length&&f(a[r]);)r+=1;return a.slice(i,r)},p=a[r],l=Jt.exec(p);if(!p.trim())r+=1;else if(Ce.test(p)){for(r+=1;r<a.length&&!Ce.test(a[r]);)r+=1;o.push(d`<pre tabindex="0"><code>${Qe(a.slice(i+1,r).join(`
`))}</code></pre>`),r+=1}else if(l)r+=1,o.push(l[1].length>2?d`<h4>${s(l[2])}</h4>`:d`<h3>${s(l[2])}</h3>`);else if(Ye.test(p)&&In.test(a[r+1]??""))o.push(Fn(u(f=>Ye.test(f)),s));else if(ne.test(p)){let f=u(_=>ne.test(_)||/^\s+\S/.test(_)&&!Ce.test(_));o.push(Yt(f,s))}else{let f=u(_=>_.trim()&&!Ce.test(_)&&!Jt.test(_)&&!ne.test(_));o.push(d`<p>${s((f.length?f:[a[r++]]).join(`
`))}</p>`)}}return o}function Yt(e,t){let n=[],s=ne.exec(e[0]);for(let o of e){let r=ne.exec(o);r&&r[1].length<=s[1].length?n.push({text:r[3],inner:[]}):n.at(-1).inner.push(o.slice(s[1].length))}let a=n.map(({text:o,inner:r})=>d`<li>
        ${t(o)}
        ${r.length>0&&(ne.test(r[0])?Yt(r,t):d` ${t(r.map(i=>i.trim()).join(" "))}`)}
      </li>`);return/\d/.test(s[2])?d`<ol start=${parseInt(s[2],10)}>${a}</ol>`:d`<ul>${a}</ul>`}function Fn(e,t){let n=o=>Ye.exec(o)[1].split(/(?<!\\)\|/).map(r=>t(r.trim())),[s,,...a]=e;return d`<div class="wide" tabindex="0" role="region" aria-label="Table">
    <table>
      <thead><tr>${n(s).map(o=>d`<th scope="col">${o}</th>`)}</tr></thead>
      <tbody>${a.map(o=>d`<tr>${n(o).map(r=>d`<td>${r}</td>`)}</tr>`)}</tbody>
    </table>
  </div>`}function Xe(e,t,n){let s=[],a=0;for(let o of e.matchAll(Un)){let[r,i,u,p,l,f,_]=o;o.index>a&&s.push(n(e.slice(a,o.index))),a=o.index+r.length,i?s.push(d`<code>${Qe(i.slice(1,-1))}</code>`):u?s.push(d`<strong>${Xe(u,t,n)}</strong>`):p?s.push(d`<em>${Xe(p,t,n)}</em>`):l?s.push(t(Number(l),Number(f))):s.push(_)}return a<e.length&&s.push(n(e.slice(a))),s}var Te={quoted:"Quoted: the words stand in the document",supported:"Supported: the document says so in other words",unsupported:"Unsupported: no passage says so",contradicted:"Contradicted by the document"},Hn=200,Ze=e=>`${e.title||e.source}${e.page?`, page ${e.page}`:""}`;function Xt({text:e,citations:t,verification:n,unsupported:s,busy:a,open:o,shown:r}){let[i,u]=w(null),p=R(),l=R(!1),f=()=>clearTimeout(p.current),_=()=>{f(),p.current=setTimeout(()=>u(null),Hn)},c=(v,k)=>{f(),u({cite:v,element:k})};N(()=>f,[]);let h=v=>Zt(v,n)?"contradicted":v.grade,{numbered:$,places:g}=zt(e,t);return d`<div class="answer" aria-busy=${a?"true":"false"}>
    ${Qt($,(v,k)=>{let T=g[k];if(!T)return d`<span class="marker">${v}</span>`;let C=h(T),A=i?.cite===T;return d`<button
      type="button"
      class=${`marker ${C}`}
      aria-label=${`Source ${v}, ${C}: ${Ze(T)}`}
      aria-describedby=${A?"card":void 0}
      aria-pressed=${r===T.chunk_id+T.start?"true":"false"}
      onPointerEnter=${x=>x.pointerType!=="touch"&&c(T,x.currentTarget)}
      onPointerLeave=${x=>x.pointerType!=="touch"&&_()}
      onPointerDown=${x=>l.current=x.pointerType==="touch"&&!A}
      onFocus=${x=>c(T,x.currentTarget)}
      onBlur=${_}
      onKeyDown=${x=>x.key==="Escape"&&u(null)}
      onClick=${x=>{if(l.current)return void(l.current=!1)||c(T,x.currentTarget);u(null),o(T,x.currentTarget)}}
    >${v}</button>`},v=>en(v,s))}
    ${i&&d`<${Wn} ...${i} grade=${h(i.cite)} onEnter=${f} onLeave=${_}
      open=${()=>{u(null),o(i.cite,i.element)}} />`}
  </div>`}function Zt(e,t){return e.judged==="contradicted"||(t.contradicted??[]).some(n=>n.claim===e.claim)}function en(e,t){for(let n of t){let s=n?e.indexOf(n):-1;if(s>=0)return[e.slice(0,s),d`<span class="unsupported" title=${Te.unsupported}>${n}</span>`,en(e.slice(s+n.length),t)]}return e}function Wn({cite:e,element:t,grade:n,open:s,onEnter:a,onLeave:o}){let r=R();return N(()=>{let i=t.getBoundingClientRect(),u=r.current,p=Math.max(8,Math.min(i.left,document.documentElement.clientWidth-u.offsetWidth-8)),l=i.top-u.offsetHeight-6;u.style.left=`${p}px`,u.style.top=`${l>8?l:i.bottom+6}px`;let f=()=>o();return addEventListener("scroll",f,!0),()=>removeEventListener("scroll",f,!0)},[t]),d`<div ref=${r} id="card" role="tooltip" class="card" onPointerEnter=${a} onPointerLeave=${o}>
    <strong>${Ze(e)}</strong>
    ${e.heading&&d`<span class="faint">${e.heading}</span>`}
    <blockquote>${e.quote}</blockquote>
    <span class=${`grade ${n}`}>${Te[n]}</span>
    <button type="button" class="plain" tabindex="-1" onClick=${s}>Show it in the document</button>
  </div>`}function tn({citations:e,verification:t,unsupported:n,open:s}){let{claims:a=0,quoted:o=0,supported:r=0,missing:i=[],contradicted:u=[],checked:p=""}=t;if(!a&&!n.length)return null;let l=[...e.map(_=>({..._,grade:Zt(_,t)?"contradicted":_.grade})),...u.filter(_=>!e.some(c=>c.claim===_.claim)).map(_=>({grade:"contradicted",claim:_.claim,quote:_.quote??_.evidence??""})),...n.map(_=>({grade:"unsupported",claim:_}))],f=[[o,"quoted"],[r,"supported"],[t.unsupported??n.length,"unsupported"],[u.length,"contradicted"]].filter(([_,c])=>_>0||c==="unsupported");return d`<details class="claims">
    <summary>
      ${a} ${a===1?"claim":"claims"}:
      ${f.map(([_,c])=>d` <span class=${`grade ${c} ${_?"":"none"}`}>${_} ${c}</span>`)}
    </summary>
    <ul>
      ${l.map(_=>d`<li>
          <span class=${`grade ${_.grade}`}>${_.grade}</span> ${_.claim.replaceAll("**","")}
          ${_.quote&&d`<blockquote>${_.quote}</blockquote>`}
          ${_.chunk_id&&d`<button type="button" class="plain" onClick=${c=>s(_,c.currentTarget)}>${Ze(_)}</button>`}
        </li>`)}
    </ul>
    ${i.length>0&&d`<p class="faint">In no passage: ${i.join(", ")}.</p>`}
    ${p&&d`<p class="faint">${p}.</p>`}
  </details>`}function nn({cite:e,close:t}){let[n,s]=w(null),[a,o]=w(null),[r,i]=w(""),u=R(),p=e.end>e.start?`start=${e.start}&end=${e.end}`:"";N(()=>{let f=new AbortController;return s(null),i(""),o(null),u.current?.focus(),q(`/passages/${encodeURIComponent(e.chunk_id)}?${p}`,{signal:f.signal}).then(_=>{s(_),o(_.page)}).catch(_=>f.signal.aborted||i(_.status===404?"This passage is not in the documents of this server any more, or comes from another retriever.":_.message)),()=>f.abort()},[e]);let l=/^https?:/.test(e.link??"")?e.link:null;return d`<aside class="source" aria-label="Source" onKeyDown=${f=>f.key==="Escape"&&t()}>
    <header>
      <h2 ref=${u} tabindex="-1">${e.title||e.source}</h2>
      <button type="button" class="icon" aria-label="Close the source" onClick=${t}>✕</button>
    </header>
    <p class="faint">${[n?.heading??e.heading,e.source].filter(Boolean).join(" \xB7 ")}</p>
    ${e.grade&&d`<p><span class=${`grade ${e.grade}`}>${Te[e.grade]}</span></p>`}
    ${r&&d`<p role="alert">${r}</p>${e.quote&&d`<blockquote>${e.quote}</blockquote>`}`}
    ${n&&a!==null&&d`<${et} passage=${n} number=${a} setNumber=${o} span=${p} />`}
    ${n&&d`<section class="passage" aria-label="Text of the passage">
      <h3>Text of the passage</h3>
      <p>${n.before}<mark>${n.quote}</mark>${n.after}</p>
    </section>`}
    ${l&&d`<p><a href=${l} target="_blank" rel="noopener noreferrer">Open the original</a></p>`}
  </aside>`}function et({passage:e,number:t,setNumber:n,span:s}){let[a,o]=w(null),r=R(),i=`/documents/${encodeURIComponent(e.doc_id)}/pages/${t}`;if(N(()=>{let b=new AbortController,m=null;return o(null),(async()=>{let v=await q(`${i}/marks${e.chunk_id?`?chunk_id=${e.chunk_id}&${s}`:""}`,{signal:b.signal});if(!v.reason){let k=await Z(`${i}.png`,{signal:b.signal});m=URL.createObjectURL(await k.blob())}if(b.signal.aborted)return m&&URL.revokeObjectURL(m);o({...v,url:m})})().catch(v=>b.signal.aborted||o({reason:"fault",told:v.message})),()=>{b.abort(),m&&URL.revokeObjectURL(m)}},[i,s]),!a)return d`<p class="faint" role="status">Page ${t} is being drawn.</p>`;if(a.reason)return d`<p class="note">${a.told}</p>`;let{width:u,height:p,boxes:l,on:f,pages:_,url:c}=a,h=!!(e.chunk_id&&s),$=f.filter(b=>b!==t),g=l.length?"the quote is marked":"nothing is marked";return d`<figure>
    <div class="sheet">
      <img src=${c} onLoad=${()=>r.current?.scrollIntoView({block:"nearest"})} alt=${`Page ${t} of ${e.title}${h?`; ${g}`:""}`} />
      <svg viewBox=${`0 0 ${u} ${p}`} preserveAspectRatio="none" aria-hidden="true">
        ${l.map(([b,m,v,k],T)=>d`<rect ref=${T===0?r:void 0} x=${b-1} y=${m-1} width=${v-b+2} height=${k-m+2} rx="1.5" />`)}
      </svg>
    </div>
    <figcaption>
      <button type="button" class="icon" aria-label="Previous page" disabled=${t<=1} onClick=${()=>n(t-1)}>‹</button>
      <span>Page ${t} of ${_}</span>
      <button type="button" class="icon" aria-label="Next page" disabled=${t>=_} onClick=${()=>n(t+1)}>›</button>
      ${$.map(b=>d`<button type="button" class="plain" onClick=${()=>n(b)}>The quote is also on page ${b}</button>`)}
      ${h&&t!==e.page&&d`<button type="button" class="plain" onClick=${()=>n(e.page)}>Back to page ${e.page}</button>`}
    </figcaption>
    ${h&&!f.length&&t===e.page&&d`<p class="note">The exact place was not found on the drawn page, so nothing is marked there.</p>`}
  </figure>`}var on=100;function sn({close:e}){let[t,n]=w([]),[s,a]=w(!0),[o,r]=w(""),[i,u]=w(null),p=async()=>{try{let l=await q(`/documents?limit=${on}&offset=${t.length}`);n([...t,...l]),a(l.length===on)}catch(l){a(!1),r(l.message)}};return N(()=>{p()},[]),d`<aside class="documents" aria-label="Documents" onKeyDown=${l=>l.key==="Escape"&&e()}>
    <header><h2>Documents</h2><button type="button" class="icon" aria-label="Close the documents" onClick=${e}>✕</button></header>
    ${o&&d`<p role="alert">${o}</p>`}
    ${i&&d`<h3>${i.title}</h3><${et} passage=${{...i,page:1}} number=${i.number} setNumber=${l=>u({...i,number:l})} />`}
    <ul>
      ${t.map(l=>d`<li>
          ${l.pages>0?d`<button type="button" class="plain" onClick=${()=>u({...l,number:1})}>${l.title}</button>`:l.title}
          <br /><span class="faint">${l.source}${l.pages>0&&`, ${l.pages} ${l.pages===1?"page":"pages"}`}</span>
        </li>`)}
    </ul>
    ${s&&t.length>0&&d`<button type="button" onClick=${p}>More</button>`}
  </aside>`}var tt="anabranch.theme";function nt(){let e=localStorage.getItem(tt);e?document.documentElement.dataset.theme=e:delete document.documentElement.dataset.theme}function rn(){let[e,t]=w(localStorage.getItem(tt)??"");return d`<div class="field">
    <label for="theme">Colours</label>
    <select id="theme" value=${e} onInput=${s=>{localStorage.setItem(tt,s.currentTarget.value),t(s.currentTarget.value),nt()}}>
      <option value="">as the system has them</option>
      <option value="light">light</option>
      <option value="dark">dark</option>
    </select>
  </div>`}var ot="anabranch.settings",_e=["model","strategy","rerank","synthesis","answer_form","verify","top_k","grade"];function ln(){try{return JSON.parse(localStorage.getItem(ot))??{}}catch{return{}}}function cn({fixed:e,values:t,onChange:n,close:s}){let[a,o]=w(null),[r,i]=w("");N(()=>{Bn().then(({context_schema:l})=>o(Kn(l,e))).catch(l=>i(l.message))},[]);let u=(l,f)=>{let{[l]:_,...c}=t,h=f===void 0?c:{...c,[l]:f};localStorage.setItem(ot,JSON.stringify(h)),n(h)},p=l=>l.map(f=>d`<${Vn} key=${f.name} ...${f} value=${t[f.name]} change=${_=>u(f.name,_)} />`);return d`<aside class="settings" aria-label="Settings" onKeyDown=${l=>l.key==="Escape"&&s()}>
    <header><h2>Settings</h2><button type="button" class="icon" aria-label="Close the settings" onClick=${s}>✕</button></header>
    <${rn} />
    <h3>Questions</h3>
    <p class="faint">They hold for the questions you ask from now on, in this browser. An empty field is as the server has it.</p>
    ${r&&d`<p role="alert">${r}</p>`}
    ${a&&d`${p(a.filter(l=>_e.includes(l.name)))}
    <details><summary>All others</summary>${p(a.filter(l=>!_e.includes(l.name)))}</details>
    <p><button type="button" onClick=${()=>{localStorage.removeItem(ot),n({})}}>Leave everything to the server</button></p>`}
  </aside>`}async function Bn(){let e=await U("/assistants/search",{graph_id:"answer"}),{assistant_id:t}=e.find(n=>n.graph_id==="answer");return q(`/assistants/${t}/schemas`)}function Kn(e,t){let n=r=>!t.includes(r)&&!r.endsWith("_prompt"),a=Object.entries(e.properties??{}).filter(([r])=>n(r)).map(([r,i])=>{let u=an(i,e),p=(u.anyOf??[u]).map(h=>an(h,e)).find(h=>h.type!=="null")??{},{type:l,minimum:f,maximum:_,exclusiveMinimum:c}=p;return{name:r,type:l,maximum:_,minimum:f??c,default:i.default,description:i.description??"",options:p.enum??u.enum??null}}),o=({name:r})=>_e.includes(r)?_e.indexOf(r):_e.length;return a.sort((r,i)=>o(r)-o(i))}function an(e,t){let n=/^#\/\$defs\/(.+)$/.exec(e.$ref??"")?.[1];return n?{...t.$defs[n],...e}:e}function Vn({name:e,type:t,options:n,minimum:s,maximum:a,description:o,default:r,value:i,change:u}){let p=`setting-${e}`,l=h=>{if(h!=="")return t==="integer"||t==="number"?Number(h):t==="boolean"?h==="true":t==="array"?h.split(",").map($=>$.trim()).filter(Boolean):h},f=n??(t==="boolean"?["true","false"]:null),_={id:p,"aria-describedby":`${p}-is`,onInput:h=>u(l(h.currentTarget.value))},c=r==null?"":` Usually ${Array.isArray(r)?r.join(", "):r}.`;return d`<div class="field">
    <label for=${p}>${e.replaceAll("_"," ")}</label>
    ${f?d`<select ...${_} value=${i===void 0?"":String(i)}>
          <option value="">as the server has it</option>
          ${f.map(h=>d`<option value=${h}>${h}</option>`)}
        </select>`:d`<input ...${_} type=${t==="integer"||t==="number"?"number":"text"} min=${s} max=${a}
          step=${t==="number"?"any":void 0} value=${Array.isArray(i)?i.join(", "):i??""} />`}
    <p id=${`${p}-is`} class="faint">${o}${c}</p>
  </div>`}var st=e=>e.metadata?.title||"Untitled";function un({threads:e,current:t,choose:n,begin:s,refresh:a,close:o}){return d`<nav class="threads" aria-label="Conversations" onKeyDown=${r=>r.key==="Escape"&&o()}>
    <button type="button" class="new" onClick=${s}>New question</button>
    <ul>
      ${e.map(r=>d`<${Gn} key=${r.thread_id} thread=${r} isCurrent=${r.thread_id===t} choose=${n} begin=${s} refresh=${a} />`)}
    </ul>
    ${!e.length&&d`<p class="faint">Your conversations will be listed here.</p>`}
  </nav>`}function Gn({thread:e,isCurrent:t,choose:n,begin:s,refresh:a}){let[o,r]=w(null),i=`/threads/${e.thread_id}`,u=st(e),p=async _=>{_.preventDefault();let c=new FormData(_.currentTarget).get("title").trim();c&&await q(i,{method:"PATCH",body:{metadata:{title:c}}}),r(null),a()},l=async()=>{await q(i,{method:"DELETE"}),t&&s(),a()},f=async()=>{let _=URL.createObjectURL(new Blob([Bt(u,await te(e.thread_id))],{type:"text/markdown"})),c=document.createElement("a");c.href=_,c.download=`${u.replace(/[^\p{L}\p{N} _-]/gu,"").slice(0,60)||"conversation"}.md`,c.click(),setTimeout(()=>URL.revokeObjectURL(_),1e4),r(null)};return o==="rename"?d`<li><form onSubmit=${p} onKeyDown=${_=>_.key==="Escape"&&(_.stopPropagation(),r(null))}>
      <label class="hidden" for="title">Title of the conversation</label>
      <input id="title" name="title" value=${u} maxlength="200" ref=${_=>_?.focus()} /> <button>Save</button>
    </form></li>`:d`<li class=${t?"current":""}>
    <button type="button" class="title" aria-current=${t?"true":void 0} onClick=${()=>n(e.thread_id)}>${u}</button>
    <button type="button" class="icon" aria-label=${`More about ${u}`} aria-expanded=${o?"true":"false"} onClick=${()=>r(o?null:"menu")}>⋯</button>
    ${o==="menu"&&d`<div class="menu" role="group" aria-label=${`What to do with ${u}`}>
      <button type="button" class="plain" onClick=${()=>r("rename")}>Rename</button>
      <button type="button" class="plain" onClick=${f}>Export</button>
      <button type="button" class="plain danger" onClick=${()=>r("delete")}>Delete</button>
    </div>`}
    ${o==="delete"&&d`<div class="menu" role="group" aria-label="Delete the conversation for good?">
      <button type="button" class="plain danger" onClick=${l}>Delete for good</button>
      <button type="button" class="plain" onClick=${()=>r(null)}>Keep</button>
    </div>`}
  </li>`}var pn={right:"Right",wrong:"Wrong",better_source:"Better source"};function _n({thread:e,turn:t}){let[n,s]=w(null),[a,o]=w(""),r=async p=>{try{await U("/feedback",{run_id:t.run,thread_id:e,...p}),s(null),o(`Noted: ${pn[p.verdict].toLowerCase()}.`)}catch(l){o(l.message)}},i=p=>{p.preventDefault();let l=new FormData(p.currentTarget);r({verdict:n,comment:l.get("comment"),chunk_id:l.get("chunk_id")||null})},u=t.values?.passages??[];return d`<span class="feedback" role="group" aria-label="Feedback">
      ${Object.entries(pn).map(([p,l])=>d`<button type="button" class="plain" aria-pressed=${n===p?"true":"false"}
            onClick=${()=>p==="right"?r({verdict:p,comment:""}):s(n===p?null:p)}>${l}</button>`)}
      <span role="status" class="faint">${a}</span>
    </span>
    ${n&&d`<form class="opinion" onSubmit=${i}>
      ${n==="better_source"&&u.length>0&&d`<label>The passage that says it
        <select name="chunk_id"><option value="">none of these</option>
          ${u.map(p=>d`<option value=${p.id}>${p.source}${p.page?`, page ${p.page}`:""}: ${p.preview.slice(0,60)}</option>`)}
        </select></label>`}
      <label>What should it say, or where does it stand?<input name="comment" maxlength="2000" /></label>
      <button>Send</button>
    </form>`}`}var rt={begin:"opening the corpus",condense:"reading the conversation",rewrite:"choosing what to search for",retrieve:"searching",fuse:"joining the lists",rerank:"ordering the passages",merge:"joining neighbouring passages",grade:"judging the evidence",pack:"choosing how to answer",create:"writing",refine:"reading on",map:"reading all windows",installed:"writing",gather:"laying out the parts",reduce:"joining the parts",cite:"checking the quotes",abstain:"finding no answer",finish:"finishing"},zn=24,Jn=e=>e>=1e3?`${(e/1e3).toFixed(1)} s`:`${Math.round(e)} ms`;function dn({values:e,open:t}){let{trace:n=[],queries:s=[],route:a,usage:o={},evidence:r,standalone_question:i,original_question:u}=e;return d`<section class="river" aria-label="How it was found">
    <h3>Searched for</h3>
    ${i&&i!==u&&d`<p class="faint">Understood as: ${i}</p>`}
    <ol class="queries">
      ${s.map(p=>d`<li>${p.text} <span class="faint">${p.kind}, weight ${Number(p.weight.toFixed(2))}</span></li>`)}
    </ol>
    <${Xn} values=${e} open=${t} />
    ${r?.verdict&&d`<h3>Evidence: ${r.verdict}</h3><ul>${r.reasons.map(p=>d`<li>${p}</li>`)}</ul>`}
    ${a?.name&&d`<h3>Written by: ${a.name}</h3><ul>${a.reasons.map(p=>d`<li>${p}</li>`)}</ul>`}
    <h3>Steps</h3>
    <p class="faint">${o.calls??0} model calls in ${o.rounds??0} rounds, ${o.prompt_tokens??0} tokens read, ${o.output_tokens??0} written.</p>
    <${Qn} trace=${n} />
  </section>`}function Qn({trace:e}){let t=Math.max(1,...e.map(n=>n.ms));return d`<div class="wide" tabindex="0" role="region" aria-label="Steps of the run">
    <table class="steps">
      <thead><tr><th scope="col">Step</th><th scope="col">Time</th><th scope="col">Calls</th><th scope="col">Tokens</th><th scope="col">What it did</th></tr></thead>
      <tbody>
        ${e.map((n,s)=>{let a=s>0&&e[s-1].round===n.round;return d`<tr class=${a?"beside":""}>
            <th scope="row" title=${rt[n.node]}>${n.node}${a?d`<span class="faint"> at the same time</span>`:""}</th>
            <td><meter min="0" max=${t} value=${n.ms} aria-label=${`Time of ${n.node}`}></meter> ${Jn(n.ms)}</td>
            <td>${n.calls||""}</td>
            <td>${n.prompt_tokens+n.output_tokens||""}</td>
            <td class="faint">${Yn(n.counts)}</td>
          </tr>`})}
      </tbody>
    </table>
  </div>`}function Yn(e){return Object.entries(e).filter(([,t])=>!(Array.isArray(t)&&!t.length)).map(([t,n])=>`${t} ${typeof n=="object"?JSON.stringify(n):n}`).join(", ")}function Xn({values:e,open:t}){let{candidates:n=[],passages:s=[],citations:a=[]}=e;if(!n.length)return null;let o=[...new Set(n.flatMap($=>Object.keys($.ranks)))].sort(),r=[...o,"joined","passages"],i=new Map(s.flatMap(($,g)=>$.leaves.map(b=>[b,g]))),u=new Set(a.map($=>$.chunk_id)),p=$=>u.has($.id)||u.has(s[i.get($.id)]?.id),l=Math.max(zn,...n.flatMap($=>Object.values($.ranks))),f=150*(r.length-1)+80,_=$=>40+150*r.indexOf($),c=($,g)=>30+190*($-1)/Math.max(g-1,1),h=n.map($=>{let g=o.filter(m=>$.ranks[m]).map(m=>[_(m),c($.ranks[m],l)]);return g.push([_("joined"),c($.fused,l)]),i.has($.id)&&g.push([_("passages"),c(i.get($.id)+1,Math.max(s.length,2))]),{path:g.map(([m,v],k)=>k===0?`M${m},${v}`:`C${m-75},${g[k-1][1]} ${m-75},${v} ${m},${v}`).join(""),points:g,strong:p($)}});return h.sort(($,g)=>$.strong-g.strong),d`<h3>Lists, and how they flowed together</h3>
    <div class="wide" tabindex="0" role="region" aria-label="Picture of the ranks">
      <svg class="flow" viewBox=${`0 0 ${f} 235`} role="img" aria-label="Ranks of each passage in the lists, after joining them, and in the answer; cited ones are emphasised. The table below says the same.">
        ${r.map($=>d`<text x=${_($)} y="16" text-anchor="middle">${$}</text>`)}
        ${h.map(({path:$,points:g,strong:b})=>d`<g class=${b?"strong":""}><path d=${$} />${g.map(([m,v])=>d`<circle cx=${m} cy=${v} r=${b?3.5:2} />`)}</g>`)}
      </svg>
    </div>
    <details>
      <summary>Passages and their ranks</summary>
      <${at} values=${e} open=${t} />
    </details>`}function at({values:e,open:t,ranks:n=!0,most:s=1/0}){let{candidates:a=[],passages:o=[],citations:r=[]}=e,i=new Map(a.map(p=>[p.id,p])),u=new Set(r.map(p=>p.chunk_id));return d`<ol class="passages">
    ${o.slice(0,s).map(p=>{let f=p.leaves.map(_=>i.get(_)).filter(Boolean).map(_=>`${Object.entries(_.ranks).map(([c,h])=>`${c} ${h}`).join(", ")}, joined ${_.fused}`);return d`<li>
        <button type="button" class="plain" onClick=${_=>t({...p,chunk_id:p.id,title:""},_.currentTarget)}>
          ${p.source}${p.page?`, page ${p.page}`:""}
        </button>
        ${u.has(p.id)&&d` <span class="grade quoted">cited</span>`}
        ${n&&p.leaves.length>1&&d` <span class="grade">merged from ${p.leaves.length}</span>`}
        <br />${p.preview}…
        ${n&&d`<br /><span class="faint">${f.join("; ")}</span>`}
      </li>`})}
  </ol>`}var Zn={};function fn({turn:e,thread:t,busy:n,last:s,open:a,shown:o,ask:r,stop:i,fork:u,choose:p}){let[l,f]=w(!1),[_,c]=w(!1),h=e.values??Zn,{citations:$=[],unsupported:g=[],verification:b={},degraded:m=[],abstained:v}=h,k=e.live?e.text:h.answer??"",T=e.question??h.original_question??"",C=e.versions?.indexOf(e.run)??-1;return d`<article class="turn">
    ${l?d`<${to} question=${T} cancel=${()=>f(!1)} save=${A=>{f(!1),r(A,e.base)}} />`:d`<h2>${T}</h2>`}
    ${e.versions?.length>1&&d`<p class="versions">
      <button type="button" class="icon" aria-label="Earlier version" disabled=${C<=0||n} onClick=${()=>p(e.versions[C-1])}>‹</button>
      Version ${C+1} of ${e.versions.length}
      <button type="button" class="icon" aria-label="Later version" disabled=${C>=e.versions.length-1||n} onClick=${()=>p(e.versions[C+1])}>›</button>
    </p>`}
    <${Xt} text=${k} citations=${e.live?[]:$} verification=${b} unsupported=${e.live?[]:g}
      busy=${!!e.live} open=${a} shown=${o} />
    ${e.live&&d`<${eo} turn=${e} stop=${i} />`}
    ${e.error&&d`<p role="alert" class="error">${e.error}</p>`}
    ${!e.live&&e.unfinished&&!e.waits&&d`<p class="note">This was stopped before the answer was complete.</p>`}
    ${e.waits&&d`<p class="note">This run waits for a person (setting “review”); go on with it in the program that began it.</p>`}
    ${!e.live&&v&&h.passages?.length>0&&d`<details class="nearest" open><summary>The nearest passages, to be opened</summary>
      <${at} values=${h} open=${a} ranks=${!1} most=${5} /></details>`}
    ${!e.live&&d`<${tn} citations=${$} verification=${b} unsupported=${g} open=${a} />`}
    ${!e.live&&m.length>0&&d`<ul class="degraded">${m.map(A=>d`<li><strong>${A.step}</strong> could not do its best: ${A.reason}</li>`)}</ul>`}
    ${!e.live&&d`<div class="actions">
      ${e.values&&d`<button type="button" class="plain" aria-expanded=${_?"true":"false"} onClick=${()=>c(!_)}>How it was found</button>`}
      <button type="button" class="plain" disabled=${n} onClick=${()=>r(T,e.base)}>Retry</button>
      ${e.base!==void 0&&d`
        <button type="button" class="plain" disabled=${n} onClick=${()=>f(!0)}>Edit</button>`}
      ${e.checkpoint&&!s&&d`<button type="button" class="plain" disabled=${n} onClick=${()=>u(e)}>Go on from here</button>`}
      ${e.run&&!e.unfinished&&d`<${_n} key=${e.run} thread=${t} turn=${e} />`}
    </div>`}
    ${_&&!e.live&&d`<${dn} values=${h} open=${a} />`}
  </article>`}var it=e=>e.lost?"connecting again":rt[e.step]??e.step??"waiting";function eo({turn:e,stop:t}){let n=it(e);return d`<p class="progress">
    <span class="dot" aria-hidden="true"></span>
    <span>${n}</span>
    <button type="button" onClick=${t}>Stop</button>
  </p>`}function to({question:e,save:t,cancel:n}){return d`<form class="edit" onSubmit=${a=>{a.preventDefault();let o=new FormData(a.currentTarget).get("question").trim();o&&t(o)}} onKeyDown=${a=>a.key==="Escape"&&n()}>
    <label class="hidden" for="edited">Edit the question</label>
    <textarea id="edited" name="question" rows="3" required ref=${a=>a?.focus()}>${e}</textarea>
    <button>Ask again</button> <button type="button" class="plain" onClick=${n}>Cancel</button>
  </form>`}var no=["messages-tuple","custom"],Ee=()=>location.hash.replace(/^#\/?/,"")||null;function oo(){let[e,t]=w(null),[n,s]=w(!1),[a,o]=w(""),[r,i]=w([]),[u,p]=w(Ee()),[l,f]=w([]),[_,c]=w(null),[h,$]=w(null),[g,b]=w(null),[m,v]=w(null),[k,T]=w(ln()),C=R(null),A=R(null),x=y=>y.status===401||o(y.message),z=Ve(async()=>{let y=await U("/threads/search",{limit:200});i(y.filter(E=>!E.metadata?.graph_id||E.metadata.graph_id==="answer"))},[]),I=Ve(async()=>{try{t(await q("/page/options")),s(!1),await z()}catch(y){x(y)}},[]);N(()=>{Ut(()=>s(!0)),I();let y=()=>p(Ee());return addEventListener("hashchange",y),()=>removeEventListener("hashchange",y)},[]),N(()=>{!e||n||C.current?.thread!==u&&(C.current?.ends.abort(),C.current=null,f([]),c(null),$(null),b(null),o(""),u&&H(u).catch(x))},[u,e,n]);let H=async(y,E)=>{let[W,[B]]=await Promise.all([te(y,E),q(`/threads/${y}/runs?limit=1`)]);if(Ee()!==y)return;if(!["pending","running"].includes(B?.status))return void f(W);let O=W.find(F=>F.run===B.run_id);await j(y,B.run_id,null,W.filter(F=>F!==O),O?.values?.original_question)},j=async(y,E,W,B,O)=>{let F=new AbortController,K={thread:y,run:E,ends:F};C.current=K;let De={live:!0,question:O,text:"",run:E},pt=null,oe=J=>{C.current===K&&c(L=>({...L??De,...J(L??De)}))};f(B),c(De);let fe=null;try{await Ft(y,E,W,{signal:F.signal,onLost:()=>oe(()=>({lost:!0})),onEvent:({event:J,data:L})=>{let[qe]=J.split("|");if(qe==="metadata")K.run=L.run_id??K.run,L.attempt>1&&oe(()=>({text:"",lost:!1}));else if(qe==="custom"&&L.status==="started")oe(()=>({step:L.step,lost:!1}));else if(qe==="custom"&&typeof L.answer=="string")oe(()=>({text:L.answer}));else if(J==="messages"){let[Q]=L,_t=typeof Q.content=="string"?Q.content:"",bn=Q.id===pt&&Q.type==="AIMessageChunk";pt=Q.id,(Q.type?.startsWith("AI")||Q.type==="ai")&&oe(vn=>({text:bn?vn.text+_t:_t,lost:!1}))}else J==="error"&&(fe=L.message??String(L.error))}})}catch(J){if(F.signal.aborted)return;fe=J.message}if(C.current!==K)return;let he=await te(y);if(C.current!==K||Ee()!==y)return;C.current=null,c(null),$(null);let gn=he.at(-1)?.run===K.run;f(gn?[...he.slice(0,-1),{...he.at(-1),error:fe}]:[...he,{question:O,error:fe??"This was stopped before it began.",values:null}]),z().catch(()=>{})},M=async(y,E)=>{o("");let W=E===void 0?l.length:l.findIndex(O=>O.base===E),B=l.slice(0,W).filter(O=>O.values);f(B),c({live:!0,question:y,text:""});try{let O=u;O||(O=(await U("/threads",{metadata:{title:y.replace(/\s+/g," ").slice(0,80),graph_id:"answer"}})).thread_id,C.current={thread:O,ends:new AbortController},location.hash=`/${O}`,p(O));let F=await Z(`/threads/${O}/runs/stream`,{method:"POST",body:{assistant_id:"answer",input:{question:y},context:k,stream_mode:no,stream_subgraphs:!0,stream_resumable:!0,on_disconnect:"continue",checkpoint_id:E??h??void 0}}),K=(F.headers.get("Content-Location")??"").split("/").pop();z().catch(()=>{}),await j(O,K,F,B,y)}catch(O){C.current=null,c(null),f([...B,{question:y,error:O.message,values:null}])}},hn=()=>{let{thread:y,run:E}=C.current??{};E&&Z(`/threads/${y}/runs/${E}/cancel`,{method:"POST"}).catch(x)},lt=async y=>{f(await te(u,y)),$(y)},mn=async y=>lt(await Wt(u,y)).catch(x),ct=y=>{location.hash=y?`/${y}`:"",p(y),v(null)},$n=(y,E)=>{A.current=E,v(null),b(y)},de=()=>{b(null),v(null),A.current?.focus()},ee=_?[...l,_]:l,ut=R();N(()=>ut.current?.querySelector("article:last-of-type")?.scrollIntoView({block:"start"}),[u,ee.length]);let Pe=r.find(y=>y.thread_id===u);if(N(()=>{document.title=Pe?`${st(Pe)} - Anabranch`:"Anabranch"},[Pe]),n)return d`<${ro} enter=${I} />`;let Oe=y=>E=>{A.current=E.currentTarget,b(null),v(m===y?null:y)};return d`<div class=${`layout ${g||["documents","settings"].includes(m)?"aside":""} ${m==="threads"?"listed":""}`}>
    <header class="top">
      <button type="button" class="icon only-narrow" aria-label="Conversations" aria-expanded=${m==="threads"?"true":"false"} onClick=${Oe("threads")}>☰</button>
      <h1>Anabranch</h1>
      <button type="button" class="plain" aria-expanded=${m==="documents"?"true":"false"} onClick=${Oe("documents")}>Documents</button>
      <button type="button" class="plain" aria-expanded=${m==="settings"?"true":"false"} onClick=${Oe("settings")}>Settings</button>
      ${e?.name&&d`<button type="button" class="plain" onClick=${()=>{xe.clear(),location.reload()}}>Sign out ${e.name}</button>`}
    </header>
    <${un} threads=${r} current=${u} choose=${ct} begin=${()=>ct(null)} refresh=${()=>z().catch(x)} close=${de} />
    <main ref=${ut}>
      <p class="hidden" role="status">${_?it(_):ee.length>0&&"The answer is complete."}</p>
      ${a&&d`<p role="alert" class="error">${a}</p>`}
      ${!ee.length&&!u&&d`<div class="welcome"><p>Ask something about your documents. Every statement of the answer is held against them, and a click on its number shows the place.</p></div>`}
      ${ee.map((y,E)=>d`<${fn} key=${y.run??`new-${E}`} turn=${y} thread=${u} last=${E===ee.length-1} busy=${!!_}
        open=${$n} shown=${g&&g.chunk_id+g.start} ask=${M} stop=${hn} choose=${mn} fork=${W=>lt(W.checkpoint).catch(x)} />`)}
      <${so} ask=${M} busy=${!!_} goesOn=${ee.length>0} tip=${h} />
    </main>
    ${g&&d`<${nn} cite=${g} close=${de} />`}
    ${m==="documents"&&d`<${sn} close=${de} />`}
    ${m==="settings"&&e&&d`<${cn} fixed=${e.fixed} values=${k} onChange=${T} close=${de} />`}
  </div>`}function so({ask:e,busy:t,goesOn:n,tip:s}){let a=R(),o=i=>{i.preventDefault();let u=a.current.value.trim();!u||t||(a.current.value="",e(u))},r=i=>{i.key==="Enter"&&!i.shiftKey&&!i.isComposing&&o(i)};return d`<form class="composer" onSubmit=${o}>
    ${s&&d`<p class="faint">Your next question goes on from the answer above.</p>`}
    <label class="hidden" for="question">Question</label>
    <textarea id="question" ref=${a} rows="2" placeholder=${n?"Ask a follow-up question":"Ask a question"} required onKeyDown=${r}></textarea>
    <button disabled=${t}>Ask</button>
  </form>`}function ro({enter:e}){let[t,n]=w("");return d`<main class="login"><h1>Anabranch</h1>
    <form onSubmit=${async a=>{a.preventDefault(),xe.set(new FormData(a.currentTarget).get("key").trim()),n(""),await e(),n("This key is not known here.")}}>
      <label for="key">Your key</label>
      <input id="key" name="key" type="password" autocomplete="current-password" required />
      <button>Sign in</button>
      <p role="alert">${t}</p>
      <p class="faint">It is kept for as long as this tab is open.</p>
    </form></main>`}nt();St(d`<${oo} />`,document.getElementById("page"));
// sources 50bfad47d6647d4da9a66807ac50bafae75013c9305d99ae423ad16be7da3fa9
